"""The words of Spanish rules, by what they stand for; see ``grammar``.

Layer: brain. Data only.
"""

WORDS = {
    "D": "nunca|jamás|bajo ningún concepto|de ninguna manera|de ningún modo|en ningún caso|en ningún momento"
    "|bajo ninguna circunstancia|bajo ningún pretexto|nunca jamás|jamás de los jamases|no está permitido"
    "|no está permitida|no están permitidos|no están permitidas|no se permite|no se permiten|no está autorizado"
    "|no estás autorizado a|no permitas|no permitir|nunca permitas|no autorices|no tienes permiso para"
    "|no tienes permiso de|no tienes derecho a|no quiero que|nunca quiero que",
    "N": "prohibido|prohíbe|prohíbo|prohibir|prohibidos|prohibida|prohibidas|está prohibido|están prohibidos"
    "|está prohibida|queda prohibido|queda prohibida|se prohíbe|te prohíbo|evita|evitar|evite|evita que|bloquea"
    "|bloquear|rechaza|niega|deniega|denegar|abstente de",
    "K": "pregunta antes de|pregúntame antes de|pregunta siempre antes de|pregúntame siempre antes de"
    "|siempre pregunta antes de|preguntar antes de|pide permiso antes de|pregunte antes de|pregunta antes de cada"
    "|pregúntame antes de cada|pide mi permiso antes de|pídeme permiso antes de|pide siempre permiso antes de"
    "|pídeme siempre permiso antes de|siempre pide permiso antes de|siempre pídeme permiso antes de"
    "|siempre pregúntame antes de|pide confirmación antes de|pídeme confirmación antes de"
    "|pide siempre confirmación antes de|pide autorización antes de|pídeme autorización antes de"
    "|pide mi autorización antes de|pide mi aprobación antes de|pide aprobación antes de|pídeme aprobación antes de"
    "|pide mi confirmación antes de|solicita permiso antes de|solicita mi permiso antes de"
    "|solicita autorización antes de|solicita mi aprobación antes de|solicita confirmación antes de"
    "|consulta conmigo antes de|consúltame antes de|consúltame siempre antes de|consulta antes de"
    "|confirma conmigo antes de|confirma antes de|espera mi aprobación antes de|espera mi confirmación antes de"
    "|obtén mi permiso antes de|obtén mi aprobación antes de|pregunta primero antes de|pregúntame primero antes de"
    "|debes preguntar antes de|debes preguntarme antes de|debes preguntarme siempre antes de"
    "|tienes que preguntar antes de|tienes que preguntarme antes de|hay que preguntar antes de|pregúnteme antes de"
    "|pregunte siempre antes de|preguntarme antes de|pregúntame cada vez antes de|pregúntame cada vez que vayas a"
    "|pregúntame cuando quieras|pregúntame si quieres|pregúntame antes de que|quiero que me preguntes antes de"
    "|pregunta antes de todo|pregúntame antes de hacer|pregunta antes de hacer|pregunta antes de que"
    "|requiere mi aprobación|requieren mi aprobación|requiere mi permiso|requieren mi permiso"
    "|requiere mi autorización|requiere mi confirmación|requiere confirmación|requiere aprobación"
    "|necesita mi permiso|necesitan mi permiso|necesita mi aprobación|necesitan mi aprobación"
    "|necesita mi autorización|necesita mi confirmación",
    "L": "solo con mi permiso|solo con mi aprobación|solo con mi autorización|solo con mi consentimiento"
    "|solo con mi confirmación|sólo con mi permiso|sólo con mi aprobación|sólo con mi autorización"
    "|únicamente con mi permiso|solo si lo apruebo|solo si yo lo apruebo|sólo si lo apruebo|solo si te lo permito"
    "|solo si doy permiso|solo si digo que sí|solo tras preguntarme|solo después de preguntarme"
    "|sólo después de preguntarme",
    "A": "permite|permite siempre|permitir|permitir siempre|siempre permite|puedes|puedes siempre|siempre puedes"
    "|autoriza|autoriza siempre|está permitido|está permitida|están permitidos|están permitidas"
    "|siempre está permitido|está siempre permitido|está siempre permitida|se permite|se permiten|se puede"
    "|se pueden|tienes permiso para|tienes permiso de|tienes mi permiso para|estás autorizado a|autorizo"
    "|te autorizo a|te permito|permito|permítete|puedes libremente|puedes tranquilamente|acepta|acepta siempre"
    "|autorizar|autoriza a|está bien|está bien que|es aceptable|permite que se",
    "O": "solo|sólo|solamente|únicamente|exclusivamente|nada más que|tan solo|tan sólo|solamente se",
    "W": "sin preguntar|sin preguntarme|sin mi permiso|sin mi aprobación|sin mi consentimiento|sin pedir permiso"
    "|sin consultarme|sin preguntar antes|sin mi autorización|sin autorización|sin permiso|sin aprobación"
    "|sin confirmación|sin mi confirmación|sin consultar|sin consultarme antes|sin consultarlo"
    "|sin consultarlo conmigo|sin consultar conmigo|sin preguntarme antes|sin preguntarme primero"
    "|sin preguntar primero|sin preguntarme cada vez|sin preguntar cada vez|sin pedirme permiso"
    "|sin pedir mi permiso|sin pedir confirmación|sin pedirme confirmación|sin pedir autorización"
    "|sin pedir mi autorización|sin pedir mi aprobación|sin mi visto bueno|sin mi acuerdo|sin mi ok"
    "|sin mi permiso explícito|sin mi autorización explícita|sin mi permiso previo|sin mi autorización previa"
    "|sin mi consentimiento previo|sin autorización previa|sin haberme preguntado|sin haberme consultado"
    "|sin que yo lo apruebe|sin que lo apruebe|sin que yo lo autorice|sin que lo autorice|sin que yo lo confirme"
    "|sin obtener mi permiso|sin tener mi permiso|sin preguntar nada|sin confirmar conmigo|sin confirmarlo conmigo"
    "|a menos que yo lo apruebe|a menos que lo apruebe|a menos que te lo pida|a menos que yo te lo pida"
    "|a menos que te lo permita|a menos que te lo diga|a menos que lo autorice|a menos que yo lo autorice"
    "|a menos que yo lo diga|a menos que me preguntes|a menos que yo lo permita|a no ser que lo apruebe"
    "|a no ser que yo lo apruebe|a no ser que te lo pida|a no ser que lo autorice|salvo que lo apruebe"
    "|salvo que yo lo apruebe|salvo que te lo pida|salvo que yo te lo pida|salvo que lo autorice"
    "|salvo que yo lo autorice|salvo con mi permiso|salvo con mi autorización|excepto con mi permiso"
    "|excepto con mi autorización|excepto si lo apruebo|excepto si te lo pido|si no te lo pido|si no lo apruebo"
    "|si yo no lo apruebo|antes de preguntarme|antes de preguntar|antes de que lo apruebe|hasta que lo apruebe"
    "|hasta que yo lo apruebe|hasta que te lo permita",
    "m": "no",
    "z": "ningún|ninguna|ninguno",
    "zY": "nada",
    "zU": "nadie",
    "c": "cambies|cambia|cambiar|cambie|modifiques|modifica|modificar|modifique|edites|edita|editar|edite|toques"
    "|toca|tocar|escribas|escribe|escribir|sobrescribas|sobrescribir|cambios|modificaciones|cambiado"
    "|cambiar nada de|cambio|modificado|modificados|modificada|modificadas|modifiquen|editado|editados|edición"
    "|modificación|escritura|escribe en|escritos|escrito|actualices|actualiza|actualizar|actualice|reemplaces"
    "|reemplaza|reemplazar|sustituyas|sustituye|sustituir|crees|crea|crear|cree|creado|creados|creación|añadas"
    "|añade|añadir|agregues|agrega|agregar|guardes|guarda|guardar|alteres|altera|alterar|reescribas|reescribe"
    "|reescribir|sobrescribe|sobreescribas|sobreescribir|tocado|hagas cambios|hacer cambios|haz cambios"
    "|hagas modificaciones|hacer modificaciones|pongas|pon|poner|manipules|manipular",
    "d": "borres|borra|borrar|borre|elimines|elimina|eliminar|elimine|borrado|borrados|borrada|borren|eliminado"
    "|eliminados|eliminada|eliminen|suprimas|suprime|suprimir|suprima|quites|quita|quitar|destruyas|destruye"
    "|destruir|eliminación|borrado de|vacíes|vaciar",
    "r": "leas|lee|leer|lea|leído|leídos|leída|lectura|leen|abras|abre|abrir|abra|abierto|abiertos|mires|mira|mirar"
    "|veas|ve|ver|inspecciones|inspecciona|inspeccionar|examines|examinar|consultes el contenido de"
    "|consultar el contenido de",
    "x": "ejecutes|ejecuta|ejecutar|ejecute|lances|lanza|lanzar|ejecutado|ejecutada|ejecutados|ejecuten|ejecución"
    "|arranques|arranca|arrancar|inicies|inicia|iniciar|corras|corre|correr|invoques|invoca|invocar|lanzado|lance"
    "|pongas en marcha|llames",
    "xv": "uses|usa|usar|utilices|utiliza|utilizar|use|usen|usado|uso|utilice|utilizado|emplees|emplea|emplear"
    "|hagas uso|recurras a",
    "l": "descargues|descarga|descargar|visites|visita|visitar|contactes|contacta|contactar|accedas|accede|acceder"
    "|acceso|conectes|conectarte|conéctate|te conectes|vayas|entres|descargado|descargas|descargue|bajes|baja|bajar"
    "|subas|sube|subir|visite|contacte|contactes con|contactar con|contacta con|acceda|accesos|conectes con"
    "|conéctate a|te conectes a|conectarse|conexiones|conexión|conectar|conectes a|navegues|navega|navegar|entrar"
    "|entra|entre|vaya|ir|hagas peticiones|hagas solicitudes|hacer peticiones|hacer solicitudes|peticiones"
    "|solicitudes|hagas llamadas|consultes|consulta|consultar|hables|hablar|obtengas|obtener|obtén|cargues|cargar"
    "|comuniques|comunicarte|te comuniques|salgas|salir",
    "s": "envíes|envía|enviar|envíe|mandes|manda|mandar|enviado|enviados|enviada|envíen|envíos|envío|mande|mandado"
    "|mandados|reenvíes|reenvía|reenviar|remitas|remite|remitir",
    "p": "pagues|paga|pagar|gastes|gasta|gastar|transfieras|transfiere|transferir|pago|pagos|pague|hagas pagos"
    "|hacer pagos|hagas un pago|hagas transferencias|hacer transferencias|realices pagos|realizar pagos"
    "|realices transferencias|realizar transferencias|transferencia|transferencias|compres|compra|comprar|compre"
    "|compras|gasto|gastos|abones|abonar|desembolses",
    "F": "archivo|archivos|fichero|ficheros|documento|documentos|contenido de archivos",
    "Y": "algo|todo|cualquier cosa|cosas|cosa|contenido|contenidos|datos|lo que sea|algo más",
    "U": "alguien|cualquiera|destinatarios|alguien más|otras personas|otros|personas|gente|destinatario|direcciones"
    "|dirección|quien|quienes|contactos|todo el mundo|cualquier persona",
    "T": "comando|comandos|programa|programas|orden|órdenes|script|scripts|comandos de shell|instrucciones"
    "|herramienta|herramientas|procesos|aplicaciones|aplicación",
    "B": "internet|red|web|la red|acceso a internet|acceso a la red|acceso a red|conexiones de red"
    "|conexión a internet|conexiones a internet|exterior|mundo exterior",
    "S": "sitio|sitios|servidor|servidores|dominio|dominios|página|páginas|host|hosts|sitio web|sitios web"
    "|página web|páginas web|url|urls|servicio|servicios|máquina|máquinas|webs|direcciones web",
    "E": "correo|correos|email|emails|correo electrónico|correos electrónicos|mensaje|mensajes|mail|mails",
    "i": "en|dentro de|a|al|hacia|bajo|dentro|dentro del|debajo de|bajo la|con|para|hacia el|sobre"
    "|en el interior de|que estén en|que está en|que están en|ubicados en|situados en|contenidos en",
    "f": "de|del|desde|desde el|procedente de|procedentes de|a partir de",
    "?": "no solo|no sólo|no solamente|no todos|no todas|no todo|no siempre|no únicamente|no cualquier"
    "|no necesariamente|no cada",
    "o": "fuera de|excepto|excepto en|excepto a|excepto de|salvo|salvo en|salvo a|menos en|aparte de|que no sea"
    "|que no sean|que no esté en|que no estén en|fuera|fuera del|excepto los de|excepto los que están en"
    "|excepto para|excepto con|excepto el|excepto la|excepto los|salvo los de|salvo para|salvo con|salvo de"
    "|salvo el|salvo la|salvo los|salvo hacia|menos a|menos los de|menos para|menos de los de|aparte del"
    "|que no sea a|que no sea en|que no sea de|que no sean de|que no esté|que no estén|que no está en"
    "|que no están en|que no estén dentro de|que no pertenezca a|que no pertenezcan a|que no sean los de"
    "|distinto de|distinta de|distintos de|distintas de|diferente de|diferentes de|a excepción de|con excepción de"
    "|con la excepción de|exceptuando|excluyendo|quitando|otro que|otros que|otra cosa que|en otro sitio que"
    "|en otro lugar que",
    ">": "más de|mayor de|mayor que|mayores de|mayores que|mayores a|mayor a|superior a|superiores a|por encima de"
    "|que supere|que superen|que supere los|que superen los|que exceda|que excedan|que exceda de|de más de"
    "|por más de",
    "<": "menos de|menor de|menor que|menores de|menores que|inferior a|inferiores a|por debajo de",
    "+": "al menos|o más|y más|como mínimo|a partir de la cantidad de",
    "-": "como máximo|hasta|o menos|y menos|a lo sumo|no más de|máximo|un máximo de",
    "J": "y|o|ni|e|u|así como|o bien|y también|o incluso|y además",
    "sE": "escribas correos|escribas un correo|escribas mensajes|escribir correos|escribir un correo"
    "|escribe correos|escribas correo|respondas|responder|contestes|contestar",
    "": "por favor|el|la|los|las|un|una|siempre|todos|todas|los demás|carpeta|carpetas|directorio|directorios|euros"
    "|euro|dólares|dólar|dinero|cada|debes|puede|ser|se|cualquier|desde ahora|a partir de ahora"
    "|de ahora en adelante|en adelante|en el futuro|en lo sucesivo|asegúrate de|asegúrate de que|recuerda"
    "|recuerda que|quiero que|me gustaría que|stead|el asistente|lo|le|les|te|me|mí|ti|mi|mis|tu|tus|su|sus|unos"
    "|unas|que haya|pueden|debe|deben|tiene que|tienen que|tienes que|hay que|está|están|es|son|sea|sean|ha de"
    "|has de|sin excepción|sin excepciones|absolutamente|estrictamente|llamado|llamada|de nombre|importe|importes"
    "|cantidad|cantidades|suma|sumas|de dinero|€|$|usd|eur|también|además|toda|todo el|toda la|cualquiera de|hacer"
    "|haga|hagas",
}
