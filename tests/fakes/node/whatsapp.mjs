// A second client of the double of WhatsApp's Cloud API: what it sends has to be taken, what the double signs to verify.
import { WhatsAppAPI } from "whatsapp-api-js";
import { Document, Interactive, ActionButtons, ActionList, Body, Button, ListSection, Row, Text } from "whatsapp-api-js/messages";

const given = JSON.parse(process.argv[2]);
const here = (url, init) => fetch(String(url).replace("https://graph.facebook.com", given.url), init);
const api = new WhatsAppAPI({ token: given.token, appSecret: given.secret, v: "v25.0", ponyfill: { fetch: here } });

const sent = [];
const send = async (message) => {
    const answer = await api.sendMessage(given.phone, given.to, message);
    if (answer.error) throw new Error(JSON.stringify(answer));
    sent.push(answer.messages[0].id);
};
await send(new Text("Hello", false));
await send(new Interactive(new ActionButtons(new Button("a", "Yes"), new Button("b", "No")), new Body("Shall it?")));
await send(new Interactive(new ActionList("Open", new ListSection("All", new Row("c", "One", "the first"))), new Body("Which?")));
const form = new FormData();
form.set("file", new Blob(["1,2"], { type: "text/plain" }), "a.txt");
form.set("messaging_product", "whatsapp");
const { id } = await api.uploadMedia(given.phone, form);
await send(new Document(id, true, undefined, "a.txt"));
const file = (await api.retrieveMedia(id)).mime_type;
await api.markAsRead(given.phone, given.message, "text");
const refused = (await api.sendMessage(given.phone, "15550009999", new Text("Hello"))).error.code;

const received = [];
api.on.message = ({ message, name }) => {
    received.push(message.text.body, name);
};
await api.post(JSON.parse(given.body), given.body, given.signature);
console.log(JSON.stringify({ sent, received, file, refused }));
