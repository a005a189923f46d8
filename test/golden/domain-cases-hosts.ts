import type { DomainCase } from "../support/domain-case.ts"

/** Mixes of hosts, ties, and hosts whose names look like another's. */
// biome-ignore format: a case a line
export const HOST_CASES: readonly DomainCase[] = [
  // Mixes: the most preferred host tells the provider, all tell the workspace.
  { about: "a gateway first, suite_a second", input: "jane@amphora-glen.com", records: { "MX @": ["10 us-smtp-inbound-1.mimecast.com", "20 aspmx.l.google.com"] } },
  { about: "suite_a first, a gateway second", input: "jane@basin-glen.com", records: { "MX @": ["10 aspmx.l.google.com", "20 us-smtp-inbound-1.mimecast.com"] } },
  { about: "suite_a first, suite_b second", input: "jane@beaker-glen.com", records: { "MX @": ["1 aspmx.l.google.com", "10 beaker-glen-com.mail.protection.outlook.com"], "TXT @": ["v=spf1 include:_spf.google.com include:spf.protection.outlook.com ~all"] } },
  { about: "suite_b first, suite_a second", input: "jane@bowl-glen.com", records: { "MX @": ["0 bowl-glen-com.mail.protection.outlook.com", "10 aspmx.l.google.com"] } },
  { about: "suite_b first, another suite second", input: "jane@carafe-glen.com", records: { "MX @": ["0 carafe-glen-com.mail.protection.outlook.com", "10 mx.zoho.com"] } },
  { about: "another suite first, suite_b second", input: "jane@chalice-glen.com", records: { "MX @": ["0 mx.zoho.com", "10 chalice-glen-com.mail.protection.outlook.com"] } },
  { about: "an own host first, suite_a second", input: "jane@cruet-glen.com", records: { "MX @": ["5 mx.cruet-glen.com", "10 aspmx.l.google.com"] } },
  { about: "a forwarder first, another suite second", input: "jane@decanter-glen.com", records: { "MX @": ["5 route1.mx.cloudflare.net", "10 mx.zoho.com"] } },
  { about: "records in any order: the value counts", input: "jane@ewer-glen.com", records: { "MX @": ["30 mx.zoho.com", "9 aspmx.l.google.com", "20 us-smtp-inbound-1.mimecast.com"] } },
  // Ties.
  { about: "a tie of an own host and suite_a: who is known goes first", input: "jane@flagon-glen.com", records: { "MX @": ["10 a.flagon-glen.com", "10 aspmx.l.google.com"] } },
  { about: "a tie of suite_a and a gateway: by name", input: "jane@flask-glen.com", records: { "MX @": ["10 us-smtp-inbound-1.mimecast.com", "10 aspmx.l.google.com"] } },
  { about: "a tie of both suites: by name", input: "jane@goblet-glen.com", records: { "MX @": ["10 goblet-glen-com.mail.protection.outlook.com", "10 aspmx.l.google.com"] } },
  { about: "a tie of a disposable host and an own one", input: "jane@jar-glen.com", records: { "MX @": ["10 in.mail.tm", "10 mx.jar-glen.com"] } },
  { about: "the same host twice: the better preference", input: "jane@jug-glen.com", records: { "MX @": ["20 aspmx.l.google.com", "1 aspmx.l.google.com"] } },
  { about: "thirty hosts: the first twenty are looked at", input: "jane@keg-glen.com", records: { "MX @": Array.from({ length: 30 }, (_, at) => `${100 - at} mx${at}.keg-glen.com`) } },
  // Parked mail and mailboxes of programs.
  { about: "a parking service", input: "jane@kiln-glen.com", records: { "MX @": ["10 park-mx.above.com"] } },
  { about: "a parking service, as a domain", input: "lathe-glen.com", records: { "MX @": ["10 park-mx.above.com"], "A @": ["198.51.100.7"] } },
  { about: "a parking service's host below another's name", input: "jane@loom-glen.com", records: { "MX @": ["10 park-mx.above.com.evil-mx.net"] } },
  { about: "an own host first, a parking service second", input: "jane@mallet-glen.com", records: { "MX @": ["10 mx.mallet-glen.com", "20 park-mx.above.com"] } },
  { about: "a service that hands mailboxes to programs", input: "bot@wrench-glen.com", records: { "MX @": ["10 mx.agentmail.to"] } },
  // Look-alikes: labels count, not letters.
  { about: "suite_a's host below another's name", input: "jane@kettle-glen.com", records: { "MX @": ["1 aspmx.l.google.com.evil-mx.net"] } },
  { about: "suite_a's host with letters before it", input: "jane@ladle-glen.com", records: { "MX @": ["1 notaspmx.l.google.com", "5 xsmtp.google.com"] } },
  { about: "suite_a's vendor, but no mail host", input: "jane@mortar-glen.com", records: { "MX @": ["1 mail.google.com", "5 ghs.googlehosted.com"] } },
  { about: "suite_b's host below another's name", input: "jane@mug-glen.com", records: { "MX @": ["0 mug-glen-com.mail.protection.outlook.com.attacker-mx.net"] } },
  { about: "suite_b's host with letters before it", input: "jane@pail-glen.com", records: { "MX @": ["0 pail.notmail.protection.outlook.com"] } },
  { about: "suite_b's host without dots", input: "jane@pestle-glen.com", records: { "MX @": ["0 pestle-glen-com.mail-protection-outlook.com"] } },
  { about: "a placeholder below another's name", input: "jane@pitcher-glen.com", records: { "MX @": ["0 ms12345678.msv1.invalid.outlook.com.evil-mx.net"] } },
  { about: "a placeholder without its number", input: "jane@platter-glen.com", records: { "MX @": ["0 ms.msv1.invalid.outlook.com"] } },
  { about: "a disposable host with a letter before it", input: "jane@saucer-glen.com", records: { "MX @": ["10 xmailinator.com", "20 mail.xmailinator.com"] } },
  { about: "a disposable host below another's name", input: "jane@scoop-glen.com", records: { "MX @": ["10 mail.mailinator.com.evil-mx.net"] } },
  { about: "a name below a disposable host that stands alone", input: "jane@sieve-glen.com", records: { "MX @": ["10 mx.in.mail.tm"] } },
  { about: "a gateway's name within another's", input: "jane@spoon-glen.com", records: { "MX @": ["10 mxa.notpphosted.com", "20 pphosted.com.evil-mx.net"] } },
  { about: "amazon's host below another's name", input: "jane@stein-glen.com", records: { "MX @": ["10 inbound-smtp.us-east-1.amazonaws.com.evil-mx.net"] } },
  { about: "SPF domains that look like the suites'", input: "jane@tankard-glen.com", records: { "MX @": ["10 us-smtp-inbound-1.mimecast.com"], "TXT @": ["v=spf1 include:_spf.google.com.evil-mx.net include:x_spf.google.com include:spf.protection.outlook.com.evil-mx.net -all"] } },
  { about: "autodiscover that looks like suite_b's", input: "jane@teapot-glen.com", records: { "MX @": ["10 us-smtp-inbound-1.mimecast.com"], "CNAME autodiscover": ["autodiscover.outlook.com.evil-mx.net"], "CNAME selector1._domainkey": ["selector1-x._domainkey.x.onmicrosoft.com.evil-mx.net"] } },
  { about: "WorkMail's autodiscover below another's name", input: "jane@tray-glen.com", records: { "MX @": ["10 inbound-smtp.us-east-1.amazonaws.com"], "CNAME autodiscover": ["autodiscover.mail.us-east-1.awsapps.com.evil-mx.net"] } },
  // Hosts that are none.
  { about: "an IP address for a host", input: "jane@tumbler-glen.com", records: { "MX @": ["10 192.0.2.25"] } },
  { about: "a host that cannot be shown beside one that can", input: "jane@tureen-glen.com", records: { "MX @": ["5 mx\u0007.tureen-glen.com", "10 mx.tureen-glen.com"] } },
  { about: "the domain is its own host", input: "jane@urn-glen.com", records: { "MX @": ["0 urn-glen.com"], "A @": ["192.0.2.1"], "TXT @": ["v=spf1 a -all"], "TXT _dmarc": ["v=DMARC1; p=none"] } },
]
