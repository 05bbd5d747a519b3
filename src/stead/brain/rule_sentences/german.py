"""The words of German rules, by what they stand for; see ``grammar``.

Layer: brain. Data only.
"""

WORDS = {
    "D": "nie|niemals|nicht|kein|keine|keinen|keinem|keiner|auf keinen fall|unter keinen umständen|darfst nicht"
    "|darf nicht|dürfen nicht|niemals wieder|nie wieder|in keinem fall|unter keinem umstand|keinesfalls"
    "|unter gar keinen umständen|auf gar keinen fall|keinerlei|nicht erlaubt|nicht gestattet|nicht zulässig"
    "|sollst nicht|soll nicht|sollen nicht|sollst nie|sollst niemals|darfst nie|darfst niemals|darf nie"
    "|darf niemals|dürfen nie|dürfen niemals|kannst nicht",
    "DY": "nichts",
    "DU": "niemanden|niemandem|niemand",
    "N": "verboten|untersagt|ist verboten|sind verboten|ist untersagt|sind untersagt|verbiete|untersage|vermeide"
    "|vermeide es|unterlass|unterlasse|unterlasse es|lass die finger von|blockiere|sperre|verhindere",
    "K": "frag vor|frage vor|frag mich vor|frage mich vor|frag immer vor|frage immer vor|frag bevor du"
    "|frage bevor du|frag mich bevor du|frage mich bevor du|frag , bevor du|frage , bevor du|frag mich , bevor du"
    "|frage mich , bevor du|frag immer , bevor du|frage immer , bevor du|frag mich immer , bevor du"
    "|frage mich immer , bevor du|vor dem|frag vor dem|frage vor dem|frag mich vor dem|frage mich vor dem"
    "|frag vor jedem|frage vor jedem|frag mich vor jedem|frage mich vor jedem|frag mich jedes mal bevor du"
    "|frag mich jedes mal , bevor du|frage mich jedes mal , bevor du|frag jedes mal , bevor du"
    "|frag zuerst , bevor du|frag erst , bevor du|frag mich erst , bevor du|frag mich zuerst , bevor du"
    "|frag mich vorher , bevor du|frag mich bitte , bevor du|frage mich bitte , bevor du|frag nach , bevor du"
    "|frage nach , bevor du|frag immer nach , bevor du|frag bei mir nach , bevor du|frage bei mir nach , bevor du"
    "|hol meine erlaubnis ein , bevor du|hole meine erlaubnis ein , bevor du|hol meine zustimmung ein , bevor du"
    "|hole meine zustimmung ein , bevor du|bitte um erlaubnis , bevor du|bitte mich um erlaubnis , bevor du"
    "|bitte um bestätigung , bevor du|braucht meine zustimmung|brauchen meine zustimmung|erfordert meine zustimmung"
    "|erfordern meine zustimmung|bedarf meiner zustimmung|bedürfen meiner zustimmung|benötigt meine zustimmung"
    "|benötigen meine zustimmung|braucht meine erlaubnis|brauchen meine erlaubnis|benötigt meine freigabe"
    "|benötigen meine freigabe|braucht meine freigabe|muss ich bestätigen|muss ich freigeben"
    "|immer fragen , bevor du|immer vorher fragen , bevor du|vor jedem|vor jeder|vor der|frag mich vor jeder"
    "|frage mich vor jeder|frag vor jeder|frag mich vor der|frage mich vor der|frag vor der|frag mich immer vor dem"
    "|frage mich immer vor dem|immer fragen vor|frag mich , wenn du|frage mich , wenn du|frag mich immer , wenn du",
    "L": "nur nach rückfrage|nur nach rücksprache|nur nach rücksprache mit mir|nur mit meiner zustimmung"
    "|nur mit meiner erlaubnis|nur mit meiner freigabe|nur nach meiner freigabe|nur nach meiner zustimmung"
    "|nur nach freigabe|nur nach bestätigung|nur nach meiner bestätigung|nur mit rückfrage|nur , wenn ich zustimme"
    "|nur wenn ich zustimme|nur , wenn ich es erlaube|nur wenn ich es erlaube|nur , nachdem du mich gefragt hast"
    "|nur nachdem du mich gefragt hast|erst nach rückfrage|erst nach rücksprache|erst nach meiner zustimmung"
    "|erst nach meiner freigabe|erst , wenn ich zugestimmt habe|erst , nachdem du mich gefragt hast",
    "A": "erlaube|erlaube immer|du darfst|du darfst immer|darfst du|darfst du immer|immer erlauben|erlaubt ist"
    "|gestatte|gestatte immer|ist erlaubt|sind erlaubt|ist immer erlaubt|sind immer erlaubt|ist gestattet"
    "|sind gestattet|ist okay|ist in ordnung|ist immer in ordnung|sind in ordnung|kannst du|du kannst"
    "|du kannst immer|du kannst gerne|du darfst gerne|du darfst jederzeit|darfst du jederzeit|es ist okay"
    "|es ist in ordnung|es ist erlaubt|immer erlaubt|ich erlaube dir|ich erlaube|erlaube es|erlaube dir",
    "O": "nur|ausschließlich|einzig|einzig und allein|bloß|lediglich",
    "O-": "nicht mehr als",
    "W": "ohne zu fragen|ohne nachzufragen|ohne mich zu fragen|ohne vorher zu fragen|ohne rückfrage|ohne nachfrage"
    "|ohne meine zustimmung|ohne meine erlaubnis|ohne vorherige rückfrage|, ohne zu fragen|, ohne mich zu fragen"
    "|, ohne nachzufragen|, ohne vorher zu fragen|ohne meine freigabe|ohne meine einwilligung|ohne mein ok"
    "|ohne mein okay|ohne mein einverständnis|ohne erlaubnis|ohne zustimmung|ohne freigabe|ohne bestätigung"
    "|ohne meine bestätigung|ohne rücksprache|ohne rücksprache mit mir|ohne vorherige rücksprache"
    "|ohne vorherige zustimmung|ohne meine vorherige zustimmung|ohne meine ausdrückliche zustimmung"
    "|ohne meine ausdrückliche erlaubnis|, ohne dass ich zustimme|ohne dass ich zustimme|, ohne dass ich es erlaube"
    "|ohne mich vorher zu fragen|, ohne mich vorher zu fragen|ohne mich zuerst zu fragen"
    "|, ohne mich zuerst zu fragen|ohne mich um erlaubnis zu fragen|, ohne mich um erlaubnis zu fragen"
    "|ohne um erlaubnis zu fragen|, ohne um erlaubnis zu fragen|ohne um erlaubnis zu bitten"
    "|, ohne um erlaubnis zu bitten|, ohne rückfrage|, ohne mich zu konsultieren|, ohne bei mir nachzufragen"
    "|ohne bei mir nachzufragen|, ohne mich gefragt zu haben|ohne mich gefragt zu haben|ohne weitere rückfrage"
    "|ohne weitere nachfrage|ohne jedes mal zu fragen|, ohne jedes mal zu fragen|, es sei denn , ich stimme zu"
    "|, es sei denn , ich erlaube es|, es sei denn , ich sage es|, außer ich erlaube es|außer ich erlaube es"
    "|, außer ich stimme zu|außer ich stimme zu|, außer mit meiner zustimmung|außer mit meiner zustimmung"
    "|außer mit meiner erlaubnis|außer nach rückfrage|, bevor du mich gefragt hast|bevor du mich gefragt hast"
    "|, bevor ich zustimme|bevor ich zustimme|, bevor ich es erlaube|, bevor ich zugestimmt habe"
    "|, wenn ich nicht zustimme|, solange ich nicht zustimme|, solange ich es nicht erlaube",
    "c": "ändere|ändern|änderst|geändert|geändert werden|verändere|verändern|veränderst|bearbeite|bearbeiten"
    "|bearbeitest|schreibe|schreib|schreiben|schreibst|überschreibe|überschreiben|überschreibst|änderungen|anfassen"
    "|modifiziere|modifizieren|zu ändern|änderungen an|änderung|änderung von|veränderungen|bearbeitet"
    "|bearbeitung von|geschrieben|geschrieben werden|bearbeitet werden|verändert|verändert werden|schreibe in"
    "|anrühren|rühr|rühre|anrührst|anfasst|fass|fasse|berühren|berühre|aktualisiere|aktualisieren|aktualisierst"
    "|aktualisiert|ersetze|ersetzen|ersetzt|erstelle|erstellen|erstellst|erstellt|anlegen|anlegst|angelegt|lege|leg"
    "|speichere|speichern|speicherst|gespeichert|hinzufügen|hinzufügst|füge|umschreiben|anpassen|anpasst|passe"
    "|zu bearbeiten|zu verändern|zu schreiben|zu überschreiben|zu erstellen|zu modifizieren|modifizierst"
    "|modifiziert|überschrieben|überschrieben werden|abändern|editiere|editieren|editierst",
    "d": "lösche|lösch|löschen|löschst|gelöscht|gelöscht werden|entferne|entfernen|entfernst|zu löschen|entfernt"
    "|entfernt werden|löschung|löschung von|löschen von|vernichte|vernichten|zu entfernen|wegwerfen|beseitige"
    "|beseitigen",
    "r": "lies|lesen|liest|lese|gelesen|gelesen werden|zu lesen|öffne|öffnen|öffnest|geöffnet|ansehen|anschauen"
    "|anschaust|ansiehst|sieh|schau|schaue|einsehen|zu öffnen|lesen von|angesehen|betrachte|betrachten|auslesen",
    "x": "führe|führ|ausführen|ausführst|ausgeführt|ausgeführt werden|starte|starten|startest|ausführung von"
    "|auszuführen|gestartet|gestartet werden|ausführung|zu starten|aufrufst|laufen|ausführen von|starten von"
    "|ausführt",
    "xv": "benutze|benutzen|benutzt|verwende|verwenden|verwendest|nutze|nutzen|nutzt|zu benutzen|zu verwenden"
    "|benutzt werden|verwendet|verwendet werden|genutzt|zu nutzen|benutzung von|verwendung von|einsetzen",
    "l": "lade|herunterladen|herunterlädst|besuche|besuchen|besuchst|kontaktiere|kontaktieren|rufe|abrufen|abrufst"
    "|aufrufen|zugriff auf|zugriffe auf|greife auf|verbinde dich mit|gehe|lädst|laden|runterladen|runterlädst"
    "|runter|hochladen|hochlädst|lade hoch|besucht|zu besuchen|kontaktierst|kontaktiert|zu kontaktieren|zugriff"
    "|zugreifen|zugreifst|zugegriffen|greif|greife|greifst|verbinde|verbinden|verbindest|verbindungen|verbindung"
    "|verbindungen zu|verbindung zu|anfragen an|anfragen|anfrage an|geh|gehst|gehen|surfe|surfen|surfst|aufgerufen"
    "|abgerufen|hole|holen|holst|hol|download von|downloads von|abfragen|abfragst|frage ab|heruntergeladen"
    "|herunterzuladen|abzurufen|aufzurufen|zuzugreifen|öffne verbindungen zu|dich verbinden|mit dem verbinden"
    "|sprich|sprechen",
    "s": "sende|senden|sendest|schicke|schick|schicken|schickst|verschicke|verschicken|verschickst|versende"
    "|versenden|gesendet|gesendet werden|geschickt|geschickt werden|verschickt|verschickt werden|versendet"
    "|versendest|zu senden|zu schicken|zu verschicken|zu versenden|versand von|leite|weiterleiten|weiterleitest",
    "sE": "maile|mailen|mailst|anmailen|anmailst|schreibe e-mails|schreib e-mails|schreibe mails|schreib mails"
    "|schreibe eine e-mail|schreib eine mail|schreibe eine mail",
    "p": "zahle|zahlen|bezahle|bezahlen|bezahlst|überweise|überweisen|überweist|ausgeben|zahlst|zahlungen|zahlung"
    "|zahlungen von|bezahlt|überweisungen|überweisung|überweisungen von|ausgibst|gib|gebe|gib aus|kaufe|kaufen"
    "|kaufst|käufe|kauf|bestelle|bestellen|bestellst|transferiere|transferieren|zu zahlen|zu bezahlen|zu überweisen"
    "|auszugeben|spende|beträge",
    "F": "datei|dateien|dokumente|dokument|dateiinhalte|dateien und ordner",
    "Y": "etwas|alles|irgendetwas|irgendwas|sachen|inhalte|inhalt|daten|was",
    "U": "jemanden|jemandem|leute|empfänger|adressen|irgendjemanden|irgendjemandem|irgendwen|irgendwem|andere"
    "|anderen|personen|alle anderen|empfängern|leuten|adresse|leute , die",
    "T": "befehl|befehle|befehlen|kommando|kommandos|programm|programme|skript|skripte|shell-befehle"
    "|terminal-befehle|programmen|kommandozeilenbefehle|werkzeuge|werkzeug|tools|tool",
    "B": "internet|netz|netzwerk|online|internetzugriff|netzwerkzugriff|das internet|dem internet"
    "|internetverbindung|internetverbindungen|netzwerkverbindungen|netzzugriff|netzwerkanfragen|web|außenwelt"
    "|ins netz|ins internet|ins web",
    "S": "website|websites|webseite|webseiten|seite|seiten|server|host|hosts|domain|domains|servern|internetseite"
    "|internetseiten|dienst|dienste|rechner|url|urls|adressen im netz",
    "E": "e-mail|e-mails|mail|mails|email|emails|nachricht|nachrichten",
    "i": "in|im|innerhalb|innerhalb von|unter|an|nach|bei|auf|zu|ins|am|zum|zur|mit|innerhalb des|unterhalb"
    "|unterhalb von|im ordner|im verzeichnis|in dem|über die seite",
    "f": "von|aus|vom",
    "?": "nur du|nur ich|nicht nur|nicht alle|nicht jede|nicht jeder|nicht jedes|nicht alles|nicht immer|nicht bloß"
    "|nicht unbedingt|nicht jeden|nicht jedem",
    "o": "außerhalb|außerhalb von|außer|außer in|außer an|außer von|ausgenommen|bis auf|andere als|anderes als"
    "|anderswo als|außerhalb des|außerhalb der|ausser|ausserhalb|ausserhalb von|außer auf|außer bei|außer im"
    "|außer zu|außer nach|außer mit|mit ausnahme von|mit ausnahme des|abgesehen von|, außer|, außer in|, außer an"
    "|, außer von|, ausgenommen|, bis auf|nicht in|die nicht in|, die nicht in|, die außerhalb von"
    "|die außerhalb von|, die nicht zu|die nicht zu|, der nicht zu|, die nicht bei|, die nicht an|, die nicht unter"
    "|, das nicht in|anderen als|anderer als|woanders als|woanders als in|anderswo als in|außer denen in"
    "|, außer denen in|jenseits von",
    ">": "mehr als|über|oberhalb von|größer als|höher als|mehr wie|über die summe von|von mehr als|von über"
    "|im wert von über|im wert von mehr als|beträge über|beträge von mehr als|beträge ab über",
    "<": "weniger als|kleiner als|niedriger als|geringer als",
    "+": "mindestens|oder mehr|und mehr|und darüber|ab einem betrag von",
    "-": "höchstens|bis zu|oder weniger|und weniger|maximal|nicht über",
    "J": "und|oder|noch|sowie|und auch|oder auch|bzw|beziehungsweise",
    "": "bitte|der|die|das|den|dem|des|ein|eine|einen|einem|einer|du|ordner|ordners|verzeichnis|verzeichnisses"
    "|immer|alle|allen|jede|jeden|jedem|jemals|werden|darf|dürfen|irgend|euro|dollar|geld|herunter|überhaupt|aus $"
    "|ab $|auf $|von befehlen wie|pfad|künftig|in zukunft|ab jetzt|von nun an|ab sofort|stets|jederzeit|mir|mich|es"
    "|ist|sind|wird|soll|sollst|sollen|sollte|solltest|kann|können|muss|müssen|musst|willst|möchtest|sein"
    "|irgendwelche|irgendwelchen|irgendeine|irgendeinen|irgendeiner|gar|bitte immer|auf der|jegliche|jeglichen"
    "|jeder|jedes|sämtliche|hinzu|an $|zu $|hoch $|weg $|dich|sich|worden|wurde|werde|namens|mit namen|also|dabei"
    "|meine|meinen|meiner|meinem|deine|stead|der assistent|achte darauf , dass du|achte darauf|euros|€|geldbeträge"
    "|geldbetrag|betrag|beträgen",
}
