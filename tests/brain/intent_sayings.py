"""What people type that needs no model, in four languages, and what looks like it and is for the model."""

from __future__ import annotations

SAID = {
    "status": (
        "status|Status?|What's the status?|what is your status|show me the status, please|status update"
        "|What are you doing right now?|how far are you|Stead, status"
        "|Wie ist der Stand?|Zeig mir den Status|Was machst du gerade?|Wie weit bist du?|Statusbericht, bitte"
        "|Où en es-tu ?|Quel est le statut ?|Que fais-tu ?|état"
        "|¿Cuál es el estado?|estado|¿Qué estás haciendo?|Muéstrame el estado, por favor"
    ),
    "stop": (
        "stop|Stop!|STOP.|stop it|please stop|Stop now|halt|stop the run"
        "|stopp|Stopp bitte|Hör auf!|hoer auf|abbrechen|Brich das ab"
        "|Arrête !|arrête-toi|arrête ça|Arrêtez"
        "|Para|¡Detente!|para ya|Detenlo"
    ),
    "schedules": (
        "schedules|Show my schedules|What is scheduled?|Zeitpläne|Was ist geplant?|Mes planifications|Programaciones"
    ),
    "schedule": (
        "schedule every day at 7:00: check the backups|Schedule every weekday at 18:30: write up the open tickets."
        "|Plane jeden Montag um 9:00 Uhr: lies die offenen Rechnungen|Planifie chaque jour à 7:05 : lis les journaux"
        "|Programa cada lunes a las 8:00: revisa las copias"
    ),
    "schedule_on": "enable schedule at-0700|Zeitplan einschalten at-0700",
    "schedule_off": "disable schedule at-0700|Desactiva la programación at-0700",
    "stop_all": "stop everything|Stoppe alles|Arrête tout !|Detén todo",
    "pause": (
        "pause|Pause it, please|take a break|Pausiere|mach eine Pause|Mets en pause|Fais une pause"
        "|Pausa|pon en pausa|Haz una pausa"
    ),
    "resume": "resume|Continue|carry on|keep going|weiter|Mach weiter!|fortsetzen|Reprends|Continúa|sigue|reanudar",
    "approve": (
        "approve|Approve it|I approve|yes, allow it|genehmigt|Genehmige das|Ja, erlaube es"
        "|J'approuve|autorise-le|Apruebo|Apruébalo|permítelo"
    ),
    "deny": (
        "deny|deny it|No, don't allow it|reject that|ablehnen|Lehne das ab|Nein, lehne es ab"
        "|Je refuse|n'autorise pas ça|Deniégalo|rechazar|No lo permitas"
    ),
    "sessions": "list sessions|Show my sessions|Welche Sitzungen gibt es?|Liste les sessions|¿Qué sesiones hay?",
    "objectives": "list my objectives|Zeige alle Aufträge|Montre les objectifs|Muestra mis objetivos",
    "remember": (
        "Remember that my dentist is Dr Lund|please remember that I prefer tabs"
        "|Merk dir, dass meine Zahnärztin Frau Lund ist|Retiens que ma dentiste est Madame Lund"
        "|Souviens-toi que je préfère le thé|Recuerda que mi dentista es la señora Lund"
    ),
}
"""By intent, at least a hundred in all."""

MISSES = tuple(
    """
    check deployed sites
    every day at 7:00 the build fails
    schedule every day at 7:00 check the backups
    schedule every day at 25:00: check the backups
    schedule every day at 7:00: check the backups and delete the old ones
    schedule every full moon at 7:00: check the backups
    schedule a meeting with Lena
    enable schedule at-0700 and run it now
    schedules are hard to test
    plane jeden Tag um 7:00 Uhr eine Pause
    stop the server on port 3000
    remember to add tests to the parser module and run them
    remember that bug from yesterday
    remember that file we edited
    remember that the tests are slow, so run only the parser's
    remember that I prefer tabs and reformat the file
    remember that it is slow
    remember that
    remember to buy milk
    remember the milk
    do you remember that I prefer tabs?
    what is the status of the deployment?
    show the status page
    status code 500 on login
    git status
    run git status
    add a status field to the order
    the status is wrong
    what's the status of issue 12
    show me the status bar code
    stop using tabs
    stop and think about the parser
    stop words should be removed from the index
    stop it from crashing
    stop after the first error
    don't stop
    do not stop
    never stop
    stop when the tests pass
    when should I stop?
    stop, then start again with the other file
    the bus stop
    stop motion
    how do I stop the daemon?
    write a stop function
    pause the video when the tab is hidden
    pause for two seconds between requests
    add a pause button
    why did you pause?
    resume the upload where it stopped
    continue with the second file
    continue the refactoring
    continue in the loop skips the item
    write my resume
    review my resume please
    approve the pull request
    approve PR 12 on GitHub
    approve all invoices below 100 euros
    I approve of the design, go on
    approve it and merge
    allow users to log in
    allow it only for admins
    allow CORS for example.com
    yes
    ok
    no
    deny requests without a token
    deny all in nginx
    reject invalid dates
    reject it when the name is empty
    don't allow empty names
    list the files
    list sessions of the user table
    list all sessions in the database that are older than a day
    show sessions per day as a chart
    what sessions are at the conference?
    list objectives of the project in the README
    sessions table
    schedule a meeting
    Stopp den Server auf Port 3000
    Hör auf, Tabs zu benutzen
    Stoppe alles, was auf Port 80 hört
    Zeig mir den Status der Bestellung
    Wie ist der Status von Ticket 12?
    Weiter unten steht ein Fehler
    Mach weiter mit der zweiten Datei
    Pause zwischen zwei Anfragen einbauen
    Genehmige den Urlaub von Ada
    Erlaube leere Namen
    Lehne ungültige Daten ab
    Merk dir die Zeile
    Merk dir, dass es langsam ist
    Merk dir, dass die Tests langsam sind, und starte sie neu
    Zeige alle Sitzungen von gestern als Tabelle
    Arrête le serveur
    Arrête de parler anglais
    Quel est le statut de la commande ?
    Continue avec le deuxième fichier
    Refuse les dates invalides
    Autorise les noms vides
    Retiens la ligne 12
    Retiens que c'est lent
    Liste les sessions de la base
    Para el servidor
    Para cada fila, imprime el nombre
    ¿Cuál es el estado del pedido?
    Continúa con el segundo archivo
    Rechaza las fechas inválidas
    Permite nombres vacíos
    Recuerda añadir pruebas
    Recuerda que eso es lento
    Muestra las sesiones de ayer
    alto contraste
    """.strip().splitlines()
)
