// Slack's own library for Node at a Slack on loopback: answers a message with a button, a press by changing it.
//
//   node slack.mjs BASE BOT_TOKEN APP_TOKEN
//
// Prints a line of JSON for what it met, and ends with stdin.
import bolt from "@slack/bolt"

const [base, token, appToken] = process.argv.slice(2)
const tell = (what) => process.stdout.write(`${JSON.stringify(what)}\n`)
const app = new bolt.App({
    token,
    appToken,
    socketMode: true,
    logLevel: "error",
    clientOptions: { slackApiUrl: `${base}/api/`, retryConfig: { retries: 0 } },
})

app.message(async ({ message, client }) => {
    const sent = await client.chat.postMessage({
        channel: message.channel,
        text: `heard ${message.text}`,
        unfurl_links: false,
        blocks: [
            { type: "section", text: { type: "plain_text", text: `heard ${message.text}`, emoji: false } },
            {
                type: "actions",
                elements: [{ type: "button", text: { type: "plain_text", text: "Yes" }, action_id: "0.0", value: "y1" }],
            },
        ],
    })
    const file = await client.filesUploadV2({ channel_id: message.channel, filename: "a.txt", file: Buffer.from("abc") })
    const info = await client.files.info({ file: file.files[0].files[0].id })
    const refused = await client.chat.postMessage({ channel: message.channel, text: "" }).catch((error) => error.data.error)
    tell({ message: message.text, ts: sent.ts, file: info.file.name, size: info.file.size, refused })
})
app.action("0.0", async ({ ack, body, action, client }) => {
    await ack()
    await client.chat.update({ channel: body.channel.id, ts: body.container.message_ts, text: "done", blocks: [] })
    await client.chat.postEphemeral({ channel: body.channel.id, user: body.user.id, text: "thanks" })
    tell({ pressed: action.value, by: body.user.id })
})

await app.start()
tell({ me: (await app.client.auth.test()).user_id })
process.stdin.resume()
process.stdin.on("end", () => process.exit(0))
