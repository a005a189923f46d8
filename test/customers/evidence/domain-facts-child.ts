import { createDomainFacts } from "../../../src/customers/evidence/domain-facts.ts"
import { openStoreAt } from "../../../src/customers/store/open-store.ts"
import { later } from "../../support/later.ts"

// Another process on the same file: `domain-facts-child.ts PATH DOMAIN CHECKED_AT_MS` stores an age and a homepage, and
// prints what it reads of the domain `ours.com`.

const [path = "", domain = "", checkedAt = ""] = process.argv.slice(2)
const store = await openStoreAt(path, { clock: Date.now, setTimer: later })
const { ages, homepages, flush } = createDomainFacts(store, Date.now)
const checkedAtMs = Number(checkedAt)
ages.write(domain, { registeredAtMs: 7, checkedAtMs })
homepages.write(domain, { state: "parked", evidence: "parking.net", checkedAtMs })
await flush()
console.log(JSON.stringify([await ages.read("ours.com"), await homepages.read("ours.com")]))
await store.close()
