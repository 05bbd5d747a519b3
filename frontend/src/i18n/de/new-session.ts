import type { t } from "@/i18n/en/new-session";
import { translation } from "@/i18n/translation";

export default translation<typeof t>()({
  title: "{kind, select, objective {Neuer Auftrag} other {Neue Sitzung}}",
  about:
    "{kind, select, objective {Beschreibe das Ergebnis. Stead findet den Weg und zeigt, was es getan hat.} other {Wähle den Ordner, in dem gearbeitet wird. Für alles andere gibt es sinnvolle Vorgabewerte.}}",
  goal: "{kind, select, objective {Ziel} other {Nachricht}}",
  goalHint:
    "{kind, select, objective {In deinen eigenen Worten. Was am Ende gelten muss, gehört unter „Fertig, wenn“.} other {Leer lassen, um die Sitzung nur zu öffnen.}}",
  goalPlaceholder:
    "Lies die Notizen des letzten Monats und schreibe nach ENTSCHEIDUNGEN.md, was entschieden wurde, eine Zeile pro Entscheidung.",
  constraintsHint: "Eine pro Zeile, zum Beispiel: Ändere die Tests nicht.",
  checksHint:
    "Eine Prüfung pro Zeile: ein Befehl, der mit 0 enden muss, zum Beispiel make test, oder exists:DATEI, contains:DATEI:TEXT, untouched:tests/, person:FRAGE. Stead führt sie selbst aus.",
  opinion: "Am Ende ein zweites Modell fragen",
  opinionHint:
    "Es liest nur die Aufzeichnung. Seine Meinung wird mit den Ereignissen gezeigt, auf die sie sich stützt, und ändert kein Ergebnis.",
  profile_work: "Automatisch (in der Sandbox)",
  profile_workHint:
    "Schreibt Dateien und führt Programme in der Sandbox ohne Rückfrage aus und fragt, bevor etwas sie verlässt. Änderungen, die deine eigenen Programme ausführen würden, warten auf Prüfung, ebenso alles, nachdem nicht vertrauenswürdige Inhalte gelesen wurden.",
  profile_ask: "Vor Änderungen fragen",
  profile_askHint:
    "Liest den Ordner frei, fragt einmal vor dem Schreiben von Dateien und jedes Mal vor dem Ausführen eines Programms.",
  profile_readonly: "Nur lesen",
  profile_readonlyHint: "Werkzeuge, die etwas ändern, sind nicht verfügbar.",
  trial: "Vor dem Übernehmen prüfen",
  trialHint: "Der Ordner bleibt, wie er ist, bis du die Änderungen übernimmst.",
  more: "Modelle, Limits und Berechtigungen",
  moreChanged: "{count, plural, =0 {nichts geändert} one {# geändert} other {# geändert}}",
  nameHint:
    "{kind, select, objective {Sonst die erste Zeile des Ziels.} other {Sonst die erste Zeile der ersten Nachricht.}}",
  tokensMost: "Höchstens Token",
  usdMost: "Höchstens Geld",
  usdUnit: "USD",
  minutes: "Minuten",
  stall: "Limit für gleiche Aufrufe",
  repetition: "Limit für gleiche Antworten",
  sendBacks: "Neue Versuche, solange eine Prüfung scheitert",
  permissions: "Freigaben im Voraus",
  tools: "Verfügbare Werkzeuge",
  toolsHint: "Namen, einer pro Zeile. Leer: alle Werkzeuge.",
  allow: "Automatisch erlaubte Werkzeuge",
  allowHint: "Namen, einer pro Zeile, zum Beispiel: write. Was sich nicht rückgängig machen lässt, fragt trotzdem.",
  hostsHint: "Einer pro Zeile, zum Beispiel: pypi.org oder *.example.com. Bei allem anderen wird nachgefragt.",
  secrets: "Verfügbare Geheimnisse",
  secretsHint: "Das Modell sieht einen Platzhalter, nie den Wert; der Wert geht nur an seine Ziele.",
  noSecrets: "Noch keine Geheimnisse.",
  modelsDefault: "Standard: {models}",
  modelsNone: "Kein Modell ist verbunden, also läuft der Demomodus (ohne KI).",
  modelsOwn: "Andere wählen",
  modelsOrder: "Das erste wird verwendet; die nächsten springen ein, wenn es ausfällt.",
  start: "{kind, select, objective {Starten} other {Sitzung öffnen}}",
  clear: "Formular leeren",
  theFolder: "dem Ordner",
  may_work: "Liest, schreibt und führt Programme in {folder} aus; fragt, bevor etwas die Sandbox verlässt",
  may_ask: "Liest in {folder}; fragt, bevor Dateien geändert oder Programme ausgeführt werden",
  may_readonly: "Liest in {folder} und ändert nichts",
  mayTrial: "Änderungen warten auf deine Prüfung",
  mayUse: "verwendet {tools} ohne Rückfrage",
  mayReach: "erreicht {hosts} ohne Rückfrage",
  promise: "{may}. {spend}.",
  tokens: "{count} Token",
  spendNoLimit: "Kein eigenes Ausgabenlimit",
  spendAtMost: "Verbraucht höchstens {amount}",
  spendEither: "Verbraucht höchstens {tokens} oder {money}",
  ignore: "Nicht in Prüfpunkten",
  ignoreHint: "Muster wie in .gitignore, eines pro Zeile, zusätzlich zu dem, was immer ausgelassen wird.",
});
