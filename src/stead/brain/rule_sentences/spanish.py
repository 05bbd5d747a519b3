"""The words of Spanish rules, by what they stand for; see ``grammar``.

Layer: brain. Data only.
"""

WORDS = {
    "m": "no",
    "D": "nunca|jamás|prohibido|bajo ningún concepto",
    "z": "ningún|ninguna|ninguno",
    "zY": "nada",
    "zU": "nadie",
    "K": "pregunta antes de|pregúntame antes de|pregunta siempre antes de|pregúntame siempre antes de"
    "|siempre pregunta antes de|preguntar antes de|pide permiso antes de|pregunte antes de|pregunta antes de cada"
    "|pregúntame antes de cada",
    "A": "permite|permite siempre|permitir|permitir siempre|siempre permite|puedes|puedes siempre|siempre puedes"
    "|autoriza|autoriza siempre",
    "O": "solo|sólo|solamente|únicamente",
    "W": "sin preguntar|sin preguntarme|sin mi permiso|sin mi aprobación|sin mi consentimiento|sin pedir permiso"
    "|sin consultarme|sin preguntar antes",
    "c": "cambies|cambia|cambiar|cambie|modifiques|modifica|modificar|modifique|edites|edita|editar|edite|toques|toca"
    "|tocar|escribas|escribe|escribir|sobrescribas|sobrescribir|cambios|modificaciones",
    "d": "borres|borra|borrar|borre|elimines|elimina|eliminar|elimine",
    "r": "leas|lee|leer|lea",
    "x": "ejecutes|ejecuta|ejecutar|ejecute|lances|lanza|lanzar",
    "xv": "uses|usa|usar|utilices|utiliza|utilizar",
    "l": "descargues|descarga|descargar|visites|visita|visitar|contactes|contacta|contactar|accedas|accede|acceder"
    "|acceso|conectes|conectarte|conéctate|te conectes|vayas|entres",
    "s": "envíes|envía|enviar|envíe|mandes|manda|mandar",
    "p": "pagues|paga|pagar|gastes|gasta|gastar|transfieras|transfiere|transferir",
    "F": "archivo|archivos|fichero|ficheros",
    "Y": "algo|todo|cualquier cosa",
    "U": "alguien|cualquiera|destinatarios",
    "T": "comando|comandos|programa|programas|orden|órdenes|script|scripts",
    "B": "internet|red|web",
    "S": "sitio|sitios|servidor|servidores|dominio|dominios|página|páginas|host|hosts",
    "E": "correo|correos|email|emails|correo electrónico|correos electrónicos|mensaje|mensajes|mail|mails",
    "i": "en|dentro de|a|al|hacia|bajo",
    "f": "de|del|desde",
    "?": "no solo|no sólo|no solamente",
    "o": "fuera de|excepto|excepto en|excepto a|excepto de|salvo|salvo en|salvo a|menos en|aparte de|que no sea"
    "|que no sean|que no esté en|que no estén en",
    ">": "más de",
    "<": "menos de",
    "+": "al menos",
    "-": "como máximo|hasta",
    "J": "y|o|ni|e|u",
    "": "por favor|el|la|los|las|un|una|siempre|todos|todas|los demás|carpeta|carpetas|directorio|directorios|euros"
    "|euro|dólares|dólar|dinero|cada|debes|puede|ser|se|cualquier",
}
