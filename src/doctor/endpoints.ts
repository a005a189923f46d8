import type { IdentityReply } from "../check/probes/identity-request.ts"
import type { Download } from "../check/refresh/download.ts"
import { doubtful, type Examined, failing, well } from "./examined.ts"

/** An address that is asked: the setting that names it, and whether the operator did. */
export type Endpoint = {
  readonly setting: string
  readonly isOwn: boolean
  /** What is missing while it does not answer, in a sentence. */
  readonly without: string
}

/** Asks the identity endpoint of each cloud. That it knows no tenant (400) is an answer. */
export async function examineIdentity(
  endpoint: Endpoint,
  bases: readonly string[],
  ask: (base: string) => Promise<IdentityReply>,
): Promise<Examined> {
  const found = await Promise.all(bases.map(async base => ({ host: hostOf(base), reply: await ask(base) })))
  const isWell = found.every(({ reply }) => isAnswer(reply))
  const seen = `${found.map(({ host, reply }) => `${host} ${wordsOf(reply)}`).join("; ")}.`
  return isWell ? well(seen) : unanswered(endpoint, seen)
}

/** Downloads a document and reads it; `read` says what is wrong with its text, or null. */
export async function examineDocument(
  endpoint: Endpoint,
  url: string,
  download: () => Promise<Download>,
  read: (text: string) => string | null,
): Promise<Examined> {
  const answer = await download()
  const host = hostOf(url)
  if (answer.kind !== "taken")
    return unanswered(endpoint, `${host}: ${answer.kind === "failed" ? answer.says : "It says that nothing changed."}`)
  const says = read(answer.text)
  return says === null ? well(`${host} gave one that can be read.`) : unanswered(endpoint, `${host}: ${says}`)
}

/** What only makes answers poorer is a warning; what an operator has named himself should be there. */
function unanswered({ setting, isOwn, without }: Endpoint, seen: string): Examined {
  if (isOwn) return failing(seen, `Set ${setting} to an address that answers. ${without}`)
  return doubtful(seen, `Let this host reach it by https, or name another address by ${setting}. ${without}`)
}

const isAnswer = (reply: IdentityReply): boolean =>
  reply.kind === "told" || (reply.kind === "refused" && reply.status === 400)

function wordsOf(reply: IdentityReply): string {
  if (isAnswer(reply)) return "answers"
  if (reply.kind === "refused") return `answers with status ${reply.status}`
  return reply.kind === "timed_out" ? "says nothing" : "cannot be reached, or answers with what cannot be read"
}

const hostOf = (url: string): string => URL.parse(url)?.host ?? "an address that is none"
