"""The words of German rules, by what they stand for; see ``grammar``.

Layer: brain. Data only.
"""

WORDS = {
    "D": "nie|niemals|nicht|kein|keine|keinen|keinem|keiner|auf keinen fall|unter keinen umständen|darfst nicht"
    "|darf nicht|dürfen nicht",
    "DY": "nichts",
    "DU": "niemanden|niemandem|niemand",
    "K": "frag vor|frage vor|frag mich vor|frage mich vor|frag immer vor|frage immer vor|frag bevor du|frage bevor du"
    "|frag mich bevor du|frage mich bevor du|frag , bevor du|frage , bevor du|frag mich , bevor du"
    "|frage mich , bevor du|frag immer , bevor du|frage immer , bevor du|frag mich immer , bevor du"
    "|frage mich immer , bevor du|vor dem|frag vor dem|frage vor dem|frag mich vor dem|frage mich vor dem"
    "|frag vor jedem|frage vor jedem|frag mich vor jedem|frage mich vor jedem",
    "A": "erlaube|erlaube immer|du darfst|du darfst immer|darfst du|darfst du immer|immer erlauben|erlaubt ist",
    "O": "nur|ausschließlich",
    "W": "ohne zu fragen|ohne nachzufragen|ohne mich zu fragen|ohne vorher zu fragen|ohne rückfrage|ohne nachfrage"
    "|ohne meine zustimmung|ohne meine erlaubnis|ohne vorherige rückfrage|, ohne zu fragen|, ohne mich zu fragen"
    "|, ohne nachzufragen|, ohne vorher zu fragen",
    "c": "ändere|ändern|änderst|geändert|geändert werden|verändere|verändern|veränderst|bearbeite|bearbeiten"
    "|bearbeitest|schreibe|schreib|schreiben|schreibst|überschreibe|überschreiben|überschreibst|änderungen"
    "|anfassen|modifiziere|modifizieren|zu ändern",
    "d": "lösche|lösch|löschen|löschst|gelöscht|gelöscht werden|entferne|entfernen|entfernst|zu löschen",
    "r": "lies|lesen|liest|lese|gelesen|gelesen werden|zu lesen",
    "x": "führe|führ|ausführen|ausführst|ausgeführt|ausgeführt werden|starte|starten|startest|ausführung von"
    "|auszuführen",
    "xv": "benutze|benutzen|benutzt|verwende|verwenden|verwendest|nutze|nutzen|nutzt",
    "l": "lade|herunterladen|herunterlädst|besuche|besuchen|besuchst|kontaktiere|kontaktieren|rufe|abrufen|abrufst"
    "|aufrufen|zugriff auf|zugriffe auf|greife auf|verbinde dich mit|gehe",
    "s": "sende|senden|sendest|schicke|schick|schicken|schickst|verschicke|verschicken|verschickst|versende|versenden",
    "sE": "maile|mailen",
    "p": "zahle|zahlen|bezahle|bezahlen|bezahlst|überweise|überweisen|überweist|ausgeben",
    "F": "datei|dateien",
    "Y": "etwas|alles",
    "U": "jemanden|jemandem|leute|empfänger|adressen",
    "T": "befehl|befehle|befehlen|kommando|kommandos|programm|programme|skript|skripte",
    "B": "internet|netz|netzwerk|online|internetzugriff|netzwerkzugriff",
    "S": "website|websites|webseite|webseiten|seite|seiten|server|host|hosts|domain|domains",
    "E": "e-mail|e-mails|mail|mails|email|emails|nachricht|nachrichten",
    "i": "in|im|innerhalb|innerhalb von|unter|an|nach|bei|auf|zu",
    "f": "von|aus|vom",
    "?": "nur du|nur ich|nicht nur",
    "o": "außerhalb|außerhalb von|außer|außer in|außer an|außer von|ausgenommen|bis auf|andere als|anderes als"
    "|anderswo als",
    ">": "mehr als|über",
    "<": "weniger als",
    "+": "mindestens",
    "-": "höchstens|bis zu",
    "J": "und|oder|noch",
    "": "bitte|der|die|das|den|dem|des|ein|eine|einen|einem|einer|du|ordner|ordners|verzeichnis|verzeichnisses|immer"
    "|alle|allen|jede|jeden|jedem|jemals|werden|darf|dürfen|irgend|euro|dollar|geld|herunter|überhaupt|aus $|ab $"
    "|auf $|von befehlen wie|pfad",
}
