// discord.js at a Discord on loopback: answers a message with a button, a press by changing it.
//
//   node discord.mjs BASE TOKEN
//
// Prints a line of JSON for what it met, and ends with stdin.
import { ActionRowBuilder, AttachmentBuilder, ButtonBuilder, ButtonStyle, Client, Events, Partials } from "discord.js"

const [base, token] = process.argv.slice(2)
const tell = (what) => process.stdout.write(`${JSON.stringify(what)}\n`)
const client = new Client({
    intents: ["GuildMessages", "DirectMessages"],
    partials: [Partials.Channel, Partials.Message],
    rest: { api: `${base}/api`, retries: 0 },
})

client.on(Events.ClientReady, () => tell({ me: client.user.id }))
client.on(Events.ShardResume, () => tell({ resumed: true }))
client.on(Events.MessageCreate, async (message) => {
    if (message.author.bot) return
    const yes = new ButtonBuilder().setCustomId("y1").setLabel("Yes").setStyle(ButtonStyle.Secondary)
    const sent = await message.channel.send({
        content: `heard ${message.content}`,
        components: [new ActionRowBuilder().addComponents(yes)],
        files: [new AttachmentBuilder(Buffer.from("abc"), { name: "a.txt" })],
        allowedMentions: { parse: [] },
    })
    const refused = await message.channel.send({ content: "x".repeat(2001) }).catch((error) => error.code)
    tell({ message: message.content, id: sent.id, refused })
})
client.on(Events.InteractionCreate, async (press) => {
    await press.deferUpdate()
    await client.rest.patch(`/channels/${press.channelId}/messages/${press.message.id}`, {
        body: { content: "done", components: [] },
    })
    await press.followUp({ content: "thanks", ephemeral: true })
    tell({ pressed: press.customId, by: press.user.id })
})
client.on(Events.Error, (error) => tell({ error: String(error) }))

await client.login(token)
process.stdin.resume()
process.stdin.on("end", () => process.exit(0))
