import { generateKeyPairSync, sign } from "node:crypto"
import { webServer } from "../check/fetch/loopback-web.ts"

/** One key of a reporter of leaks. */
export type Signer = {
  readonly identifier: string
  /** As its public half is published. */
  readonly published: { readonly key_identifier: string; readonly key: string; readonly is_current: boolean }
  /** The headers of a report with this body. */
  readonly headers: (body: string | Uint8Array) => Record<string, string>
}

/** A new key under the identifier; reports are signed on P-256 unless another curve is named. */
export function signer(identifier: string, namedCurve = "P-256", isCurrent = true): Signer {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve })
  const key = publicKey.export({ type: "spki", format: "pem" }).toString()
  return {
    identifier,
    published: { key_identifier: identifier, key, is_current: isCurrent },
    headers: body => ({
      "Github-Public-Key-Identifier": identifier,
      "Github-Public-Key-Signature": sign("sha256", Buffer.from(body), privateKey).toString("base64"),
    }),
  }
}

/** The document that publishes the keys of these signers. */
export const keysDocument = (...signers: readonly Signer[]): string =>
  JSON.stringify({ public_keys: signers.map(({ published }) => published) })

/** A web server on loopback that publishes keys, as long as the test lives. */
export function keyServer(...signers: readonly Signer[]) {
  let askedCount = 0
  let answer: () => Response | Promise<Response> = () => new Response(keysDocument(...signers))
  const { url } = webServer(() => {
    askedCount++
    return answer()
  })
  return {
    url: `${url}meta/public_keys/secret_scanning`,
    askedCount: () => askedCount,
    publish: (...next: readonly Signer[]) => {
      answer = () => new Response(keysDocument(...next))
    },
    /** Has it answer in another way from now on. */
    answerWith: (next: () => Response | Promise<Response>) => {
      answer = next
    },
  }
}
