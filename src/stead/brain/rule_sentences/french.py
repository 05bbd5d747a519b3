"""The words of French rules, by what they stand for; see ``grammar``.

Layer: brain. Data only.
"""

WORDS = {
    "n": "ne|n'",
    "D": "jamais|pas|interdit de|interdiction de",
    "z": "aucun|aucune",
    "zY": "rien",
    "zU": "personne",
    "q": "que|qu'",
    "K": "demande avant de|demande avant d'|demandez avant de|demandez avant d'|demande-moi avant de"
    "|demande-moi avant d'|demandez-moi avant de|demandez-moi avant d'|demande toujours avant de"
    "|demande toujours avant d'|demander avant de|demander avant d'|toujours demander avant de"
    "|toujours demander avant d'|demande-moi toujours avant de|demande-moi toujours avant d'|demande avant tout"
    "|demande avant chaque|demande-moi avant chaque",
    "A": "autorise|autorise toujours|autorisez|autorisez toujours|autoriser|toujours autoriser|tu peux"
    "|tu peux toujours|permets|permets toujours|vous pouvez",
    "O": "seulement|uniquement|exclusivement",
    "W": "sans demander|sans me demander|sans mon accord|sans mon autorisation|sans ma permission|sans autorisation"
    "|sans demander avant|sans me consulter",
    "c": "modifie|modifies|modifiez|modifier|modification|modifications|change|changes|changez|changer|édite|éditer"
    "|éditez|touche|touches|touchez|toucher|écris|écrire|écrivez|écrase|écraser",
    "d": "supprime|supprimes|supprimez|supprimer|efface|effaces|effacez|effacer|suppression",
    "r": "lis|lire|lisez|lecture",
    "x": "exécute|exécutes|exécutez|exécuter|lance|lances|lancez|lancer|exécution",
    "xv": "utilise|utilises|utilisez|utiliser",
    "l": "télécharge|télécharges|téléchargez|télécharger|visite|visites|visitez|visiter|contacte|contactes|contactez"
    "|contacter|accède|accèdes|accédez|accéder|accès|va|aller|connecte-toi|te connecter|te connecte|consulte"
    "|consulter|consultes",
    "s": "envoie|envoies|envoyez|envoyer|envoi",
    "p": "paie|paies|payez|payer|paye|dépense|dépensez|dépenser|transfère|transférez|transférer|vire|virer",
    "F": "fichier|fichiers",
    "Y": "quoi que ce soit|quelque chose|tout",
    "U": "quelqu' un|quiconque|qui que ce soit|destinataires|gens",
    "T": "commande|commandes|programme|programmes|script|scripts",
    "B": "internet|réseau|web|ligne",
    "S": "site|sites|serveur|serveurs|hôte|hôtes|domaine|domaines|page|pages",
    "E": "mail|mails|e-mail|e-mails|courriel|courriels|message|messages|email|emails",
    "i": "dans|à|au|aux|vers|sur|sous|en|chez",
    "f": "de|d'|du|des|depuis",
    "o": "hors de|hors du|en dehors de|en dehors du|en dehors d'|sauf|sauf dans|sauf à|sauf de|excepté|excepté dans"
    "|à part|à l' extérieur de|ailleurs que dans|autre que|autres que|d' autre que|à l' exception de|hormis",
    ">": "plus de",
    "<": "moins de",
    "+": "au moins",
    "-": "au plus|jusqu' à",
    "J": "et|ou|ni",
    "": "s'il te plaît|le|la|les|l'|un|une|toujours|tous|toutes|dossier|dossiers|répertoire|répertoires|tu|dois|peux"
    "|doit|être|euro|euros|dollars|dollar|argent|il est|est|chaque|il",
}
