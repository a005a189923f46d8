import CANDIDATES from "../../../data/mail/candidate-hosts.txt" with { type: "text" }
import { assert } from "../../base/errors.ts"
import { parseTable } from "../../base/text-table.ts"
import { mailHostKey } from "./mail-host-key.ts"

/** The keys of hosts that others measured to serve many listed domains, among domains that nobody counted. Throws `InvariantError` if a row names no host. */
export function parseCandidateHosts(text: string): ReadonlySet<string> {
  const keys = parseTable(text, ["host"]).map(({ host }) => {
    const key = mailHostKey(host)
    assert(key !== null, `${host} is a host`)
    return key
  })
  return new Set(keys)
}

/** The candidates of this version. */
export const candidateHosts = (): ReadonlySet<string> => parseCandidateHosts(CANDIDATES)
