import type { DomainCase } from "../support/domain-case.ts"

/** Hosts that pass mail on, feed programs, or serve throw-away domains, at names that no list knows. */
// biome-ignore format: a case a line
export const FORWARDER_CASES: readonly DomainCase[] = [
  // Forwarders and registrars' mail are never disposable evidence by themselves.
  { about: "cloudflare_routing", input: "jane@arbor-quill.com", records: { "MX @": ["13 amir.mx.cloudflare.net", "24 linda.mx.cloudflare.net", "86 isaac.mx.cloudflare.net"], "TXT @": ["v=spf1 include:_spf.mx.cloudflare.net ~all"] } },
  { about: "cloudflare_routing in front of suite_a's senders", input: "jane@bayou-quill.com", records: { "MX @": ["1 route1.mx.cloudflare.net", "2 route2.mx.cloudflare.net"], "TXT @": ["v=spf1 include:_spf.mx.cloudflare.net include:_spf.google.com ~all"] } },
  { about: "cloudflare_routing under strict", input: "jane@brook-quill.com", policy: "strict", records: { "MX @": ["1 route1.mx.cloudflare.net"], "TXT @": ["v=spf1 include:_spf.mx.cloudflare.net ~all"], "TXT _dmarc": ["v=DMARC1; p=none"] } },
  { about: "improvmx", input: "jane@canyon-quill.com", records: { "MX @": ["10 mx1.improvmx.com", "20 mx2.improvmx.com"], "TXT @": ["v=spf1 include:spf.improvmx.com ~all"] } },
  { about: "forwardemail", input: "jane@delta-quill.com", records: { "MX @": ["10 mx1.forwardemail.net", "10 mx2.forwardemail.net"], "TXT @": ["forward-email=jane", "v=spf1 include:spf.forwardemail.net -all"] } },
  { about: "namecheap_fwd: a registrar's forwarding", input: "jane@estuary-quill.com", records: { "MX @": ["10 eforward1.registrar-servers.com", "15 eforward4.registrar-servers.com", "20 eforward5.registrar-servers.com"], "TXT @": ["v=spf1 include:spf.efwd.registrar-servers.com ~all"] } },
  { about: "a registrar's mailboxes", input: "jane@fjord-quill.com", records: { "MX @": ["10 mx.fjord-quill.com.cust.b.hostedemail.com"] } },
  // Relays for domains of one's own.
  { about: "simplelogin", input: "jane@geyser-quill.com", records: { "MX @": ["10 mx1.simplelogin.co", "20 mx2.simplelogin.co"], "TXT @": ["v=spf1 include:simplelogin.co ~all"] } },
  { about: "simplelogin by its new name", input: "jane@glacier-quill.com", records: { "MX @": ["10 mx1.alias.proton.me", "20 mx2.alias.proton.me"] } },
  { about: "addy", input: "jane@grotto-quill.com", records: { "MX @": ["10 mail.anonaddy.me"], "TXT @": ["v=spf1 include:spf.anonaddy.me -all"] } },
  { about: "duck", input: "jane@island-quill.com", records: { "MX @": ["10 smtp-inbound1.duck.com"] } },
  // Senders, which take mail for programs.
  { about: "mailgun", input: "jane@lagoon-quill.com", records: { "MX @": ["10 mxa.mailgun.org", "10 mxb.mailgun.org"], "TXT @": ["v=spf1 include:mailgun.org ~all"] } },
  { about: "mailgun in Europe", input: "jane@mesa-quill.eu", records: { "MX @": ["10 mxa.eu.mailgun.org", "10 mxb.eu.mailgun.org"] } },
  { about: "sendgrid", input: "jane@meadow-quill.com", records: { "MX @": ["10 mx.sendgrid.net"], "TXT @": ["v=spf1 include:sendgrid.net ~all"] } },
  { about: "postmark", input: "jane@moraine-quill.com", records: { "MX @": ["10 inbound.postmarkapp.com"], "TXT @": ["v=spf1 include:spf.mtasv.net ~all"] } },
  { about: "a sender's SPF beside suite_b's mail", input: "jane@oasis-quill.com", records: { "MX @": ["0 oasis-quill-com.mail.protection.outlook.com"], "TXT @": ["v=spf1 include:sendgrid.net include:spf.protection.outlook.com -all"] } },
  // Hosts that serve disposable domains only.
  { about: "mailinator", input: "jane@prairie-quill.com", records: { "MX @": ["1 mail.mailinator.com", "1 mail2.mailinator.com"] } },
  { about: "mailinator's other host, under lenient", input: "jane@ravine-quill.com", policy: "lenient", records: { "MX @": ["10 mx.powered.name"] } },
  { about: "emailfake", input: "jane@reef-quill.com", records: { "MX @": ["10 emailfake.com"], "A @": ["198.51.99.1"] } },
  { about: "emailfake's generator", input: "jane@savanna-quill.com", records: { "MX @": ["10 generator.email"] } },
  { about: "mail_tm", input: "jane@spire-quill.com", records: { "MX @": ["10 in.mail.tm"], "TXT @": ["v=spf1 -all"] } },
  { about: "tempmail_io", input: "jane@steppe-quill.com", records: { "MX @": ["10 mx.temp-mail.io", "20 mx2.temp-mail.io"] } },
  { about: "yopmail", input: "jane@summit-quill.com", records: { "MX @": ["10 smtp.yopmail.com"] } },
  { about: "10minutemail", input: "jane@taiga-quill.com", records: { "MX @": ["10 prd-smtp.10minutemail.com"] } },
  { about: "den_yt", input: "jane@tundra-quill.com", records: { "MX @": ["10 mx2.den.yt"] } },
  { about: "a disposable host for a domain", input: "valley-quill.com", records: { "MX @": ["10 in.mail.tm"], "A @": ["198.51.99.1"] } },
  { about: "a disposable host for a website", input: "https://volcano-quill.com/", records: { "MX @": ["10 in.mail.tm"], "A @": ["198.51.99.1"] } },
  { about: "a disposable host first, an own one second", input: "jane@wharf-quill.com", records: { "MX @": ["10 in.mail.tm", "20 mx.wharf-quill.com"] } },
  { about: "an own host first, a disposable one second", input: "jane@wold-quill.com", records: { "MX @": ["10 mx.wold-quill.com", "20 in.mail.tm"] } },
  { about: "suite_a first, a disposable host second", input: "jane@zephyr-quill.com", records: { "MX @": ["1 aspmx.l.google.com", "20 mail.mailinator.com"] } },
  { about: "a gateway before a disposable host", input: "jane@atoll-quill.com", records: { "MX @": ["1 mx1-us1.ppe-hosted.com", "20 smtp.yopmail.com"] } },
  { about: "a throw-away domain's SPF is no evidence", input: "jane@bluff-quill.com", records: { "MX @": ["10 mx.bluff-quill.com"], "TXT @": ["v=spf1 include:mailinator.com -all"] } },
]
