import { decode, encode } from "dns-packet"

const ASKED_AGAIN_MS = 500
const TRIES_MAX = 20

/** What the bench's DNS server at `url` says to the word: `count`, `mute` or `speak`. Rejects when it says nothing. */
export async function askDnsServer(url: URL, word: "count" | "mute" | "speak"): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const socket = await Bun.udpSocket({
    connect: { hostname: url.hostname, port: Number(url.port) },
    binaryType: "buffer",
    socket: { data: (_, packet) => resolve(textIn(packet)), error: (_, error) => reject(error) },
  })
  const query = encode({ type: "query", id: 1, questions: [{ name: `${word}.bench`, type: "TXT", class: "IN" }] })
  let tries = 0
  const send = (): void => {
    if (tries++ < TRIES_MAX) socket.send(query)
    else reject(new Error("the DNS server says nothing"))
  }
  const timer = setInterval(send, ASKED_AGAIN_MS)
  send()
  return await promise.finally(() => {
    clearInterval(timer)
    socket.close()
  })
}

function textIn(packet: Buffer): string {
  const [answer] = decode(packet).answers ?? []
  if (answer?.type !== "TXT") throw new Error("the DNS server gave no text")
  return [answer.data].flat().join("")
}
