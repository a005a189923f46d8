import type { NsdZone } from "./nsd.ts"

const TEXT = "x".repeat(250)

/** So many texts of 250 octets, each a record of its own. */
const texts = (count: number): string =>
  Array.from({ length: count }, (_, at) => `IN TXT "${at}" "${TEXT}"`).join("\n  ")

/** The SOA's TTL is longer than its minimum: what is not there holds for a minute. */
const PLAIN = `
@ 900 IN SOA ns hostmaster 1 3600 600 86400 60
$TTL 300
@ IN NS ns
  IN NS NS.Other.test.
  IN MX 10 Mail.PLAIN.test.
  IN MX 20 backup.other.test.
  IN TXT "v=spf1 include:_spf.plain.test " "-all"
ns IN A 192.0.2.1
mail IN A 192.0.2.2
  IN A 192.0.2.3
  IN AAAA 2001:db8::2
_dmarc IN TXT "v=DMARC1; p=reject"
_autodiscover._tcp IN SRV 0 5 443 mail
selector1._domainkey IN CNAME selector1-plain-test._domainkey.other.test.
alias 120 IN CNAME second
second IN CNAME mail
away IN CNAME www.other.test.
abroad IN CNAME www.elsewhere.test.
gone IN CNAME nowhere
circle-a IN CNAME circle-b
circle-b IN CNAME circle-a
parked IN MX 0 .
odd IN TXT "caf\\195\\169 \\255 \\000 \\"quoted\\""
below.deep IN A 192.0.2.4
medium ${texts(3)}
large ${texts(8)}
huge IN TXT ${`"${TEXT}" `.repeat(240)}
`

/** The SOA's TTL is shorter than its minimum: what is not there holds for half a minute. */
const OTHER = `
@ 30 IN SOA ns hostmaster 1 3600 600 86400 600
$TTL 300
@ IN NS ns
ns IN A 192.0.2.9
www 60 IN A 192.0.2.10
selector1-plain-test._domainkey IN TXT "v=DKIM1; p=AAAA"
`

const SIGNED = `
@ 900 IN SOA ns hostmaster 1 3600 600 86400 60
$TTL 300
@ IN NS ns
  IN MX 10 mail
  IN TXT "v=spf1 -all"
ns IN A 192.0.2.20
mail IN A 192.0.2.21
www IN CNAME mail
`

/** The zones that the servers of the tests know. */
export const ZONES: readonly NsdZone[] = [
  { name: "plain.test", records: PLAIN, signing: "none" },
  { name: "other.test", records: OTHER, signing: "none" },
  { name: "signed.test", records: SIGNED, signing: "signed" },
  // Its only address is no longer the one that was signed.
  { name: "bogus.test", records: SIGNED.replace("mail IN A 192.0.2.21", ""), signing: "broken" },
]
