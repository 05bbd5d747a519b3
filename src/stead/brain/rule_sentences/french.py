"""The words of French rules, by what they stand for; see ``grammar``.

Layer: brain. Data only.
"""

WORDS = {
    "D": "jamais|pas|en aucun cas|sous aucun prétexte|en aucune circonstance|en aucune façon|pas le droit de"
    "|pas le droit d'|pas autorisé|pas autorisé à|pas autorisée|pas autorisés|pas permis|pas permis de"
    "|pas permis d'|plus jamais|point|à aucun moment|surtout pas|je ne veux pas que tu",
    "N": "interdit de|interdiction de|interdit|interdite|interdits|interdites|interdis|interdire|interdisez"
    "|interdit d'|interdis-toi de|interdis-toi d'|il est interdit de|il est interdit d'|défense de|défense d'"
    "|évite de|évite d'|éviter de|évitez de|abstiens-toi de|abstiens-toi d'|refuse|refuse de|refuse d'|bloque"
    "|bloquer",
    "K": "demande avant de|demande avant d'|demandez avant de|demandez avant d'|demande-moi avant de"
    "|demande-moi avant d'|demandez-moi avant de|demandez-moi avant d'|demande toujours avant de"
    "|demande toujours avant d'|demander avant de|demander avant d'|toujours demander avant de"
    "|toujours demander avant d'|demande-moi toujours avant de|demande-moi toujours avant d'|demande avant tout"
    "|demande avant chaque|demande-moi avant chaque|demande la permission avant de|demande la permission avant d'"
    "|demande ma permission avant de|demande ma permission avant d'|demande l' autorisation avant de"
    "|demande l' autorisation avant d'|demande mon autorisation avant de|demande mon autorisation avant d'"
    "|demande-moi la permission avant de|demande-moi la permission avant d'|demande-moi l' autorisation avant de"
    "|demande-moi l' autorisation avant d'|demande mon accord avant de|demande mon accord avant d'"
    "|demande-moi mon accord avant de|demande confirmation avant de|demande confirmation avant d'"
    "|demande une confirmation avant de|demande une confirmation avant d'|demande-moi confirmation avant de"
    "|demande-moi confirmation avant d'|demande-moi une confirmation avant de|consulte-moi avant de"
    "|consulte-moi avant d'|vérifie avec moi avant de|vérifie avec moi avant d'|confirme avec moi avant de"
    "|confirme avec moi avant d'|obtiens mon accord avant de|obtiens mon accord avant d'"
    "|attends mon accord avant de|attends mon accord avant d'|attends ma confirmation avant de"
    "|il faut demander avant de|il faut demander avant d'|il faut me demander avant de|il faut me demander avant d'"
    "|tu dois demander avant de|tu dois demander avant d'|tu dois me demander avant de|tu dois me demander avant d'"
    "|tu dois toujours demander avant de|demande-moi d' abord avant de|demande d' abord avant de"
    "|demande toujours confirmation avant de|demande toujours confirmation avant d'"
    "|demande toujours la permission avant de|demande toujours mon accord avant de"
    "|demande toujours mon autorisation avant de|qu' avec mon accord n'|nécessite mon accord|nécessitent mon accord"
    "|nécessite mon autorisation|nécessite ma confirmation|exige mon accord|requiert mon accord"
    "|requiert mon autorisation|requiert ma confirmation|demandez-moi toujours avant de|demandez toujours avant de"
    "|demande avant toute|demande-moi avant tout|demande-moi avant toute|demande-moi quand tu veux"
    "|demande-moi si tu veux|demande quand tu veux|demande à chaque fois avant de"
    "|demande-moi à chaque fois avant de|pose-moi la question avant de|pose la question avant de",
    "L": "seulement avec mon accord|uniquement avec mon accord|seulement avec mon autorisation"
    "|uniquement avec mon autorisation|seulement avec ma permission|seulement si j' accepte"
    "|seulement si je l' autorise|seulement après m' avoir demandé|uniquement après m' avoir demandé"
    "|seulement après mon accord",
    "A": "autorise|autorise toujours|autorisez|autorisez toujours|autoriser|toujours autoriser|tu peux"
    "|tu peux toujours|permets|permets toujours|vous pouvez|tu es autorisé à|tu as le droit de|tu as le droit d'"
    "|tu as la permission de|tu as la permission d'|tu as mon autorisation pour|il est permis de|il est permis d'"
    "|il est autorisé de|est autorisé|est autorisée|sont autorisés|sont autorisées|est permis|est permise"
    "|sont permis|est toujours autorisé|est toujours autorisée|est toujours permis|sont toujours autorisés"
    "|sont toujours autorisées|je t' autorise à|je t' autorise toujours à|je permets|je t' permets de"
    "|tu peux librement|tu peux sans problème|vous pouvez toujours|permets-toi de|autorise-toi à|laisse passer"
    "|accepte|accepte toujours|n' hésite pas à",
    "O": "seulement|uniquement|exclusivement|rien d' autre que|seul|seule|seuls|seules",
    "W": "sans demander|sans me demander|sans mon accord|sans mon autorisation|sans ma permission|sans autorisation"
    "|sans demander avant|sans me consulter|sans ma confirmation|sans confirmation|sans mon consentement"
    "|sans mon approbation|sans approbation|sans accord|sans permission|sans demander la permission"
    "|sans demander ma permission|sans me demander la permission|sans demander l' autorisation"
    "|sans me demander l' autorisation|sans demander mon autorisation|sans demander mon accord"
    "|sans demander confirmation|sans me demander confirmation|sans me demander mon avis|sans demander mon avis"
    "|sans m' avoir demandé|sans m' avoir consulté|sans m' avoir consultée|sans mon feu vert|sans me le demander"
    "|sans mon aval|sans mon ok|sans mon autorisation explicite|sans mon accord explicite|sans mon accord préalable"
    "|sans autorisation préalable|sans accord préalable|sans avoir demandé|sans avoir mon accord"
    "|sans obtenir mon accord|sans avoir obtenu mon accord|sans que je l' autorise|sans que je l' approuve"
    "|sans que j' accepte|sans vérifier avec moi|sans me demander avant|sans me demander d' abord"
    "|sans demander d' abord|sans me demander à chaque fois|sans demander à chaque fois|sans poser de question"
    "|sans poser la question|sans consulter|sauf si je l' autorise|sauf si j' accepte|sauf si je dis oui"
    "|sauf si je te le demande|sauf si je te le dis|sauf si je le demande|sauf si je suis d' accord"
    "|sauf si je donne mon accord|sauf avec mon accord|sauf avec mon autorisation|sauf avec ma permission"
    "|à moins que je l' autorise|à moins que je ne l' autorise|à moins que j' accepte|à moins que je te le demande"
    "|à moins que je ne te le demande|à moins d' avoir mon accord|avant de me demander|avant de m' avoir demandé"
    "|avant que je l' autorise|avant d' avoir mon accord|tant que je ne l' ai autorisé",
    "n": "ne|n'",
    "z": "aucun|aucune",
    "zY": "rien",
    "zU": "personne",
    "q": "que|qu'",
    "c": "modifie|modifies|modifiez|modifier|modification|modifications|change|changes|changez|changer|édite|éditer"
    "|éditez|touche|touches|touchez|toucher|écris|écrire|écrivez|écrase|écraser|mettre à jour|mets à jour"
    "|met à jour|mettez à jour|modifié|modifiés|modifiée|modifiées|changé|changés|changement|changements|édites"
    "|édité|écrit|écrits|écriture|écritures|touché|touchés|crée|créer|crées|créez|créé|créés|création|ajoute"
    "|ajouter|ajoutes|ajoutez|ajout|remplace|remplacer|remplaces|remplacement|enregistre|enregistrer|enregistres"
    "|altère|altérer|réécris|réécrire|réécrit|écrases|sauvegarde|sauvegarder|mettre|mets",
    "d": "supprime|supprimes|supprimez|supprimer|efface|effaces|effacez|effacer|suppression|supprimé|supprimés"
    "|supprimée|supprimées|effacé|effacés|suppressions|enlève|enlever|enlèves|retire|retirer|retires|détruis"
    "|détruire|détruit|élimine|éliminer|vide|vider",
    "r": "lis|lire|lisez|lecture|lit|lues|lus|lectures|ouvre|ouvrir|ouvres|ouvrez|ouvert|ouverts|regarde|regarder"
    "|regardes|regardez|voir|vois|inspecte|inspecter|examine|examiner",
    "x": "exécute|exécutes|exécutez|exécuter|lance|lances|lancez|lancer|exécution|exécuté|exécutée|exécutés"
    "|exécutées|exécutions|lancé|lancée|lancement|lancés|démarre|démarrer|démarres|faire tourner|fais tourner"
    "|tourner|appelle|appeler|invoque|invoquer",
    "xv": "utilise|utilises|utilisez|utiliser|emploie|employer|employez|utilisation|utilisé|utilisée|utilisés"
    "|sers-toi|te sers|te servir|se servir|usage|recours à|recourir à",
    "l": "télécharge|télécharges|téléchargez|télécharger|visite|visites|visitez|visiter|contacte|contactes"
    "|contactez|contacter|accède|accèdes|accédez|accéder|accès|va|aller|connecte-toi|te connecter|te connecte"
    "|consulte|consulter|consultes|téléchargement|téléchargements|téléchargé|récupère|récupérer|récupères|récupérez"
    "|interroge|interroger|interroges|joins|joindre|contacté|navigue|naviguer|navigues|surfe|surfer|connexion"
    "|connexions|connecter|connecte|connectes|te connectes|vous connecter|accède à|accéder à|accès à|requêtes"
    "|requête|fais de requête|fais de requêtes|faire de requêtes|envoie de requête|envoie de requêtes|appels|vas"
    "|allez|charge|charger|consultez|rends-toi|te rendre|parle|parler|communique|communiquer|envoie des requêtes"
    "|envoyer des requêtes|mets en ligne|téléverse|téléverser",
    "s": "envoie|envoies|envoyez|envoyer|envoi|envoyé|envoyés|envoyée|transmets|transmettre|transmettez"
    "|transfère le|transfère les|expédie|expédier|fais suivre|envois",
    "p": "paie|paies|payez|payer|paye|dépense|dépensez|dépenser|transfère|transférez|transférer|vire|virer|paiement"
    "|paiements|payes|achète|acheter|achètes|achetez|achat|achats|virement|virements|dépenses|effectue de paiement"
    "|effectuer de paiement|effectue de paiements|effectuer de paiements|effectue un paiement|effectue de virement"
    "|effectue de virements|fais de paiement|fais de virement|commande pour|règle|régler",
    "F": "fichier|fichiers|document|documents|contenu des fichiers",
    "Y": "quoi que ce soit|quelque chose|tout|n' importe quoi|choses|chose|contenu|contenus|données|ce que ce soit",
    "U": "quelqu' un|quiconque|qui que ce soit|destinataires|gens|n' importe qui|autres|d' autres personnes"
    "|personnes|destinataire|adresses|adresse|quelqu' un d' autre|autrui|contacts|tout le monde",
    "T": "commande|commandes|programme|programmes|script|scripts|commandes shell|outil|outils|logiciel|logiciels"
    "|instructions",
    "B": "internet|réseau|web|ligne|l' internet|accès internet|accès réseau|connexion internet|connexions réseau"
    "|toile|monde extérieur|réseaux",
    "S": "site|sites|serveur|serveurs|hôte|hôtes|domaine|domaines|page|pages|site web|sites web|page web|pages web"
    "|url|urls|service|services|machine|machines|adresse web",
    "E": "mail|mails|e-mail|e-mails|courriel|courriels|message|messages|email|emails",
    "i": "dans|à|au|aux|vers|sur|sous|en|chez|à l' intérieur de|à l' intérieur du|au sein de|auprès de|avec|pour"
    "|dans le|dans les|jusque dans|se trouvant dans|situés dans|situé dans|qui sont dans|qui se trouvent dans"
    "|contenus dans|contenu dans",
    "f": "de|d'|du|des|depuis|provenant de|venant de|depuis le|à partir de|à partir du",
    "o": "hors de|hors du|en dehors de|en dehors du|en dehors d'|sauf|sauf dans|sauf à|sauf de|excepté|excepté dans"
    "|à part|à l' extérieur de|ailleurs que dans|autre que|autres que|d' autre que|à l' exception de|hormis"
    "|à l' extérieur du|qui ne sont pas dans|qui n' est pas dans|qui ne se trouvent pas dans|qui n' est pas chez"
    "|qui n' est pas de|qui ne sont pas de|qui ne sont pas chez|qui n' appartiennent pas à|qui n' appartient pas à"
    "|ailleurs que|ailleurs que sur|ailleurs que chez|ailleurs qu' à|ailleurs qu' en|sauf ceux de|sauf ceux du"
    "|sauf ceux dans|sauf celles de|sauf sur|sauf du|sauf chez|sauf vers|sauf pour|sauf avec|sauf le|sauf les"
    "|excepté à|excepté de|excepté sur|excepté ceux de|à l' exception du|à l' exception de ceux de"
    "|exception faite de|en dehors des|hors des|hors d'|mis à part|à part dans|à part sur|à part à|autre qu'"
    "|autres qu'|d' autres que|différent de|différents de|pas dans|pas sur|pas de chez",
    ">": "plus de|supérieur à|supérieure à|supérieurs à|supérieures à|au-dessus de|au-delà de|excédant|dépassant"
    "|qui dépasse|qui dépassent|de plus de|d' un montant supérieur à|plus que|plus grand que",
    "<": "moins de|inférieur à|inférieure à|inférieurs à|au-dessous de|en dessous de",
    "+": "au moins|ou plus|et plus|minimum|à partir de la somme de",
    "-": "au plus|jusqu' à|ou moins|et moins|maximum|au maximum|pas plus de",
    "J": "et|ou|ni|ainsi que|et aussi|ou bien|ou même|ou encore|mais aussi",
    "?": "pas tous|pas toutes|pas tout|pas toujours|pas seulement|pas uniquement|pas forcément|pas chaque"
    "|non seulement|pas n' importe",
    "sE": "écris un mail|écris un e-mail|écris de mail|écris de mails|écris d' e-mail|écris d' e-mails"
    "|écrire de mail|écrire de mails|écrire un mail|écrire à|réponds|répondre",
    "": "s'il te plaît|le|la|les|l'|un|une|toujours|tous|toutes|dossier|dossiers|répertoire|répertoires|tu|dois"
    "|peux|doit|être|euro|euros|dollars|dollar|argent|il est|est|chaque|il|s' il te plaît|s' il vous plaît|stp|svp"
    "|désormais|dorénavant|à l' avenir|à partir de maintenant|veille à|veille à ce que|assure-toi de|pense à"
    "|n'oublie pas de|l' assistant|stead|mes|mon|ma|tes|ton|ta|son|sa|leur|y|en $|te|t'|toi|me|moi|se|s'|on|nous"
    "|vous|devez|devrais|peut|peuvent|pouvez|doivent|sont|es|as|avez|soit|soient|sera|quelconque|quelconques"
    "|quel que soit|toute|moindre|aucune exception|sans exception|nommé|nommée|appelé|somme|montant|montants|sommes"
    "|d' argent|d' un montant|absolument|strictement|tout de même|n' importe quel|n' importe quelle"
    "|n' importe quels|$|€|eur|de nouveau",
}
