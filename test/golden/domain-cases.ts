import type { DomainCase } from "../support/domain-case.ts"
import { GATEWAY_CASES } from "./domain-cases-gateways.ts"
import { HOST_CASES } from "./domain-cases-hosts.ts"
import { MAILBOX_CASES } from "./domain-cases-mailboxes.ts"
import { NAME_CASES } from "./domain-cases-names.ts"
import { PROVIDER_CASES } from "./domain-cases-providers.ts"
import { TENANT_CASES } from "./domain-cases-tenants.ts"

const TENANT = "5c8d1f20-7a3b-4e69-8f04-91b2d7c6e35a"
const ALL_SILENT = { "* @": "timed_out", "* _dmarc": "timed_out" } as const
/** The hosts of suite_a and suite_b, their placeholders and their consumers' hosts. */
// biome-ignore format: a case a line
const SUITE_CASES: readonly DomainCase[] = [
  // suite_a.
  { about: "suite_a as its setup page says", input: "jane@alder-forge.com", records: { "MX @": ["1 aspmx.l.google.com", "5 alt1.aspmx.l.google.com", "5 alt2.aspmx.l.google.com", "10 alt3.aspmx.l.google.com", "10 alt4.aspmx.l.google.com"], "TXT @": ["v=spf1 include:_spf.google.com ~all"], "TXT _dmarc": ["v=DMARC1; p=reject; rua=mailto:d@alder-forge.com"] } },
  { about: "suite_a by its single new host", input: "jane@birch-anvil.com", records: { "MX @": ["1 smtp.google.com"], "TXT @": ["v=spf1 include:_spf.google.com -all"], "TXT _dmarc": ["v=DMARC1; p=quarantine"] } },
  { about: "suite_a by its old hosts", input: "jane@cedar-anvil.com", records: { "MX @": ["10 aspmx2.googlemail.com", "10 aspmx3.googlemail.com", "20 aspmx5.googlemail.com"], "TXT @": ["v=spf1 include:aspmx.googlemail.com ~all"] } },
  { about: "aspmx1 and aspmx6 are not among the old hosts", input: "jane@dogwood-anvil.com", records: { "MX @": ["10 aspmx1.googlemail.com", "20 aspmx6.googlemail.com"] } },
  { about: "suite_a by its old filter", input: "jane@elder-anvil.com", records: { "MX @": ["100 elder-anvil.com.s9a1.psmtp.com"] } },
  { about: "suite_a by alternates alone", input: "jane@fir-anvil.com", records: { "MX @": ["10 alt1.aspmx.l.google.com", "20 alt4.aspmx.l.google.com"], "TXT @": ["v=spf1 -all"], "TXT _dmarc": ["v=DMARC1; p=none"] } },
  { about: "what stands below smtp.google.com is no host of suite_a", input: "jane@ginkgo-anvil.com", records: { "MX @": ["1 x.smtp.google.com"] } },
  { about: "suite_a for a website", input: "https://www.hazel-anvil.com/about?x=1", records: { "MX @": ["1 aspmx.l.google.com"], "A @": ["198.51.99.1"], "TXT @": ["v=spf1 include:_spf.google.com ~all"] } },
  { about: "suite_a for a domain", input: "ivy-anvil.com", records: { "MX @": ["1 smtp.google.com"], "A @": ["198.51.99.1"] } },
  { about: "names in capitals and with a last dot", input: "jane@juniper-anvil.com", records: { "MX @": ["1 ASPMX.L.GOOGLE.COM."], "TXT @": ["V=SPF1 INCLUDE:_SPF.GOOGLE.COM. ~ALL"] } },
  { about: "a verification TXT alone is no evidence", input: "jane@larch-anvil.com", records: { "MX @": ["10 mail.larch-anvil.com"], "TXT @": ["google-site-verification=Zm9vYmFyYmF6cXV4", "MS=ms12345678"] } },
  { about: "suite_a's DKIM key is not asked for before an own host", input: "jane@maple-anvil.com", records: { "MX @": ["10 mail.maple-anvil.com"], "TXT @": ["v=spf1 mx -all"], "TXT google._domainkey": ["v=DKIM1; k=rsa; p=MIIBIjANBg"] } },
  { about: "SPF names suite_a before an own host", input: "jane@oak-anvil.com", records: { "MX @": ["10 mail.oak-anvil.com"], "TXT @": ["v=spf1 mx include:_spf.google.com -all"] } },
  // suite_b and its clouds.
  { about: "suite_b as its setup page says", input: "jane@pine-anvil.com", records: { "MX @": ["0 pine-anvil-com.mail.protection.outlook.com"], "TXT @": ["v=spf1 include:spf.protection.outlook.com -all"], "TXT _dmarc": ["v=DMARC1; p=quarantine; pct=100"] } },
  { about: "suite_b by its DNSSEC hosts", input: "jane@rowan-anvil.com", records: { "MX @": ["0 rowan-anvil-com.o-v1.mx.microsoft"], "TXT @": ["v=spf1 include:spf.protection.outlook.com -all"] } },
  { about: "suite_b by its oldest hosts", input: "jane@spruce-anvil.com", records: { "MX @": ["10 spruce-anvil-com.mail.eo.outlook.com"], "TXT @": ["v=spf1 include:spf.protection.outlook.com ~all"] } },
  { about: "suite_b's cloud for US governments and their suppliers", input: "jane@sumac-anvil.com", records: { "MX @": ["0 sumac-anvil-com.mail.protection.office365.us"], "TXT @": ["v=spf1 include:spf.protection.office365.us -all"] } },
  { about: "suite_b's cloud in China", input: "jane@teak-anvil.cn", records: { "MX @": ["0 teak-anvil-cn.mail.protection.partner.outlook.cn"], "TXT @": ["v=spf1 include:spf.protection.partner.outlook.cn -all"] } },
  { about: "suite_b for a domain", input: "walnut-anvil.com", records: { "MX @": ["0 walnut-anvil-com.mail.protection.outlook.com"] } },
  { about: "suite_b for a subdomain's address", input: "jane@eu.willow-anvil.com", records: { "MX @": ["0 eu-willow-anvil-com.mail.protection.outlook.com"], "TXT @": ["v=spf1 include:spf.protection.outlook.com -all"], "TXT _dmarc.willow-anvil.com.": ["v=DMARC1; p=reject"] } },
  { about: "SPF of suite_b's persons is no evidence by name", input: "jane@yew-anvil.com", records: { "MX @": ["10 mail.yew-anvil.com"], "TXT @": ["v=spf1 include:spf2.outlook.com -all"] } },
  // Placeholders.
  { about: "placeholder only: no mail can come", input: "jane@agate-loom.com", records: { "MX @": ["0 ms12345678.msv1.invalid.outlook.com"] } },
  { about: "placeholder only, for a domain", input: "amber-loom.com", records: { "MX @": ["0 ms12345678.msv1.invalid.outlook.com"], "A @": ["198.51.99.1"] } },
  { about: "placeholder and an address: implicit MX", input: "jane@basalt-loom.com", records: { "MX @": ["0 ms12345678.msv1.invalid.outlook.com"], "A @": ["198.51.99.1"] } },
  { about: "placeholder beside an own host", input: "jane@beryl-loom.com", records: { "MX @": ["0 ms12345678.msv1.invalid.outlook.com", "10 mx.beryl-loom.com"], "TXT @": ["v=spf1 mx -all"] } },
  { about: "placeholder beside suite_a, least preferred", input: "jane@coral-loom.com", records: { "MX @": ["1 aspmx.l.google.com", "32767 ms12345678.msv1.invalid.outlook.com"], "TXT @": ["v=spf1 include:_spf.google.com -all"] } },
  { about: "placeholder left beside suite_b", input: "jane@flint-loom.com", records: { "MX @": ["0 flint-loom-com.mail.protection.outlook.com", "32767 ms12345678.msv1.invalid.outlook.com"] } },
  { about: "placeholder before a consumer host", input: "jane@garnet-loom.com", records: { "MX @": ["0 ms12345678.msv1.invalid.outlook.com", "10 gmail-smtp-in.l.google.com"], "TXT @": ["v=spf1 include:_spf.google.com -all"] } },
  { about: "placeholder beside a gateway", input: "jane@jade-loom.com", records: { "MX @": ["0 ms12345678.msv1.invalid.outlook.com", "10 eu-smtp-inbound-1.mimecast.com"] } },
  { about: "placeholder beside a null MX", input: "jane@lapis-loom.com", records: { "MX @": ["0 .", "10 ms12345678.msv1.invalid.outlook.com"] } },
  // Consumers' hosts of the same vendors, at domains that no list knows.
  { about: "gmail's hosts are no suite_a", input: "jane@marble-loom.com", records: { "MX @": ["5 gmail-smtp-in.l.google.com", "10 alt1.gmail-smtp-in.l.google.com"], "TXT @": ["v=spf1 include:_spf.google.com ~all"] } },
  { about: "a consumer host first, suite_a second", input: "jane@onyx-loom.com", records: { "MX @": ["5 gmail-smtp-in.l.google.com", "10 aspmx.l.google.com"] } },
  { about: "suite_a first, a consumer host second", input: "jane@opal-loom.com", records: { "MX @": ["5 aspmx.l.google.com", "10 gmail-smtp-in.l.google.com"] } },
  { about: "the group service's relay is no suite_a", input: "jane@pearl-loom.com", records: { "MX @": ["5 gmr-smtp-in.l.google.com", "10 alt1.gmr-smtp-in.l.google.com"], "TXT @": ["v=spf1 redirect=_spf.google.com"] } },
  { about: "outlook.com's hosts are no suite_b", input: "jane@quartz-loom.com", records: { "MX @": ["5 quartz-loom-com.olc.protection.outlook.com"], "TXT @": ["v=spf1 include:spf.protection.outlook.com -all"] } },
  { about: "outlook.com's regional hosts", input: "jane@ruby-loom.com", records: { "MX @": ["10 eur.olc.protection.outlook.com"] } },
]

/** Hosts that pass mail on, feed programs, or serve throw-away domains, at names that no list knows. */
// biome-ignore format: a case a line
const FORWARDER_CASES: readonly DomainCase[] = [
  // Forwarders are never disposable evidence by themselves, and no organisation is known by them.
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

/** What does not answer, and what is answered from a cache. */
// biome-ignore format: a case a line
const FAULT_CASES: readonly DomainCase[] = [
  // Without its MX a domain has only its lists; without the rest it has its MX.
  { about: "MX timed out", input: "jane@basil-cove.com", records: { "MX @": "timed_out", "A @": ["198.51.99.1"], "TXT @": ["v=spf1 include:_spf.google.com -all"] } },
  { about: "MX timed out, under strict", input: "jane@borage-cove.com", policy: "strict", records: { "MX @": "timed_out", "A @": ["198.51.99.1"] } },
  { about: "MX timed out, under lenient", input: "jane@caper-cove.com", policy: "lenient", records: { "MX @": "timed_out", "A @": ["198.51.99.1"] } },
  { about: "MX refused by every server", input: "jane@caraway-cove.com", records: { "MX @": "unavailable", "A @": ["198.51.99.1"] } },
  { about: "MX timed out for a domain that resolves", input: "cardamom-cove.com", records: { "MX @": "timed_out", "A @": ["198.51.99.1"] } },
  { about: "TXT timed out: nothing is said of SPF", input: "jane@chervil-cove.com", records: { "MX @": ["1 aspmx.l.google.com"], "TXT @": "timed_out", "TXT _dmarc": ["v=DMARC1; p=reject"] } },
  { about: "DMARC timed out: nothing is said of it", input: "jane@chive-cove.com", records: { "MX @": ["1 aspmx.l.google.com"], "TXT @": ["v=spf1 -all"], "TXT _dmarc": "timed_out" } },
  { about: "the organisational domain's DMARC timed out", input: "jane@eu.cilantro-cove.com", records: { "MX @": ["10 mx.cilantro-cove.com"], "TXT @": ["v=spf1 -all"], "TXT _dmarc.cilantro-cove.com.": "timed_out" } },
  { about: "the top-level domain's DMARC timed out: nothing is said of DMARC, and all else stands", input: "jane@salsify-cove.com", records: { "MX @": ["10 mx.salsify-cove.com"], "TXT @": ["v=spf1 -all"], "TXT _dmarc.com.": "timed_out" } },
  { about: "the organisational domain's DMARC counts, though the top-level domain's timed out", input: "jane@eu.scorzonera-cove.com", records: { "MX @": ["10 mx.scorzonera-cove.com"], "TXT @": ["v=spf1 -all"], "TXT _dmarc.scorzonera-cove.com.": ["v=DMARC1; p=reject"], "TXT _dmarc.com.": "timed_out" } },
  { about: "the domain's own DMARC counts, though the other timed out", input: "jane@eu.clove-cove.com", records: { "MX @": ["10 mx.clove-cove.com"], "TXT @": ["v=spf1 -all"], "TXT _dmarc": ["v=DMARC1; p=reject"], "TXT _dmarc.clove-cove.com.": "timed_out" } },
  { about: "TXT timed out behind a gateway", input: "jane@cumin-cove.com", records: { "MX @": ["10 us-smtp-inbound-1.mimecast.com"], "TXT @": "unavailable", "CNAME autodiscover": ["autodiscover.outlook.com"] } },
  { about: "addresses timed out, the MX is there", input: "jane@dill-cove.com", records: { "MX @": ["10 mx.dill-cove.com"], "TXT @": ["v=spf1 mx -all"], "A @": "timed_out", "AAAA @": "timed_out" } },
  { about: "addresses timed out, a null MX is there", input: "jane@garlic-cove.com", records: { "MX @": ["0 ."], "A @": "timed_out", "AAAA @": "timed_out" } },
  { about: "no MX, and A timed out", input: "jane@ginger-cove.com", records: { "TXT @": ["v=spf1 -all"], "A @": "timed_out" } },
  { about: "no MX, A timed out, AAAA there", input: "jane@hyssop-cove.com", records: { "A @": "timed_out", "AAAA @": ["2a01:4f8::1"] } },
  { about: "no name by MX, and A timed out", input: "jane@lovage-cove.com", records: { "MX @": "no_name", "TXT @": "no_name", "A @": "timed_out", "AAAA @": "timed_out" } },
  { about: "a placeholder, and addresses timed out", input: "jane@mace-cove.com", records: { "MX @": ["0 ms12345678.msv1.invalid.outlook.com"], "A @": "timed_out", "AAAA @": "timed_out" } },
  { about: "everything timed out for an address", input: "jane@marjoram-cove.com", records: ALL_SILENT },
  { about: "everything timed out for a domain", input: "mint-cove.com", records: ALL_SILENT },
  { about: "everything timed out for a website, under lenient", input: "https://mustard-cove.com/", policy: "lenient", records: ALL_SILENT },
  { about: "DNS is silent, the tenant is told", input: "jane@nutmeg-cove.com", records: ALL_SILENT, identity: { tenant: TENANT, region: "EU" } },
  // From a cache.
  { about: "asked again: from a cache", input: "jane@oregano-cove.com", again: true, records: { "MX @": ["1 aspmx.l.google.com"], "TXT @": ["v=spf1 -all"], "TXT _dmarc": ["v=DMARC1; p=none"] } },
  { about: "asked again with a tenant: from a cache", input: "jane@paprika-cove.com", again: true, records: { "MX @": ["0 paprika-cove-com.mail.protection.outlook.com"] }, identity: { tenant: TENANT, region: "EU" } },
  { about: "NXDOMAIN asked again: from a cache", input: "jane@parsley-cove.com", again: true, records: {} },
  { about: "a failure asked again is not from a cache", input: "jane@pepper-cove.com", again: true, records: ALL_SILENT },
]

/** Domains that lists know, with what they publish or without an answer. */
// biome-ignore format: a case a line
const LISTED_CASES: readonly DomainCase[] = [
  { about: "gmail.com shows no suite_a", input: "jane@gmail.com", listed: ["personal"], records: { "MX @": ["5 gmail-smtp-in.l.google.com", "10 alt1.gmail-smtp-in.l.google.com", "20 alt2.gmail-smtp-in.l.google.com"], "TXT @": ["v=spf1 redirect=_spf.google.com"], "TXT _spf.google.com.": ["v=spf1 include:_netblocks.google.com ~all"], "TXT _dmarc": ["v=DMARC1; p=none; sp=quarantine; rua=mailto:mailauth-reports@google.com"], "A @": ["198.51.99.1"] } },
  { about: "outlook.com shows no suite_b, though a tenant would be told", input: "jane@outlook.com", listed: ["personal"], records: { "MX @": ["5 outlook-com.olc.protection.outlook.com"], "TXT @": ["v=spf1 include:spf2.outlook.com include:spf.protection.outlook.com ~all"], "TXT _dmarc": ["v=DMARC1; p=none"] }, identity: { tenant: "9188040d-6c67-4c5b-b112-36a304b66dad" } },
  { about: "gmail.com for a domain", input: "gmail.com", policy: "lenient", listed: ["personal"], records: { "MX @": ["5 gmail-smtp-in.l.google.com"] } },
  { about: "a personal domain, degraded", input: "jane@hotmail.com", listed: ["personal"], records: ALL_SILENT },
  { about: "a personal domain, degraded, under strict", input: "jane@yahoo.com", policy: "strict", listed: ["personal"], records: ALL_SILENT },
  { about: "a personal domain that DNS denies", input: "jane@web.de", listed: ["personal"], records: {} },
  { about: "a university on suite_b", input: "jane@ethz.ch", listed: ["education"], records: { "MX @": ["10 ethz-ch.mail.protection.outlook.com"], "TXT @": ["v=spf1 include:spf.protection.outlook.com -all"], "TXT _dmarc": ["v=DMARC1; p=quarantine"] }, identity: { tenant: TENANT, region: "EU", realm: "Managed" } },
  { about: "a university's faculty on suite_a", input: "jane@cs.mit.edu", listed: ["education_suffix"], records: { "MX @": ["1 aspmx.l.google.com"] } },
  { about: "a government body on suite_b's cloud for governments", input: "jane@nasa.gov", listed: ["government_suffix"], records: { "MX @": ["0 nasa-gov.mail.protection.office365.us"], "TXT @": ["v=spf1 include:spf.protection.office365.us -all"], "TXT _dmarc": ["v=DMARC1; p=reject"] }, identity: { tenant: TENANT, region: "USGov", realm: "Managed" } },
  { about: "a government body, degraded", input: "jane@bund.de", listed: ["government"], records: ALL_SILENT },
  { about: "a known organisation with null MX: no address there works", input: "jane@stripe.com", listed: ["organisation"], records: { "MX @": ["0 ."], "A @": ["198.51.99.1"] } },
  { about: "a known organisation with null MX, for a domain", input: "stripe.com", listed: ["organisation"], records: { "MX @": ["0 ."], "A @": ["198.51.99.1"] } },
  { about: "a known organisation on suite_a", input: "jane@shopify.com", listed: ["organisation"], records: { "MX @": ["1 aspmx.l.google.com"], "TXT @": ["v=spf1 include:_spf.google.com ~all"] } },
  { about: "a known organisation behind own hosts", input: "jane@siemens.com", listed: ["organisation"], records: { "MX @": ["10 mx1.siemens.com"] } },
  { about: "a known organisation, degraded", input: "jane@bosch.com", listed: ["organisation"], records: ALL_SILENT },
  { about: "a known organisation, degraded, under lenient", input: "jane@netflix.com", policy: "lenient", listed: ["organisation"], records: ALL_SILENT },
  { about: "a disposable domain with its hosts", input: "jane@mailinator.com", listed: ["disposable"], records: { "MX @": ["1 mail.mailinator.com", "1 mail2.mailinator.com"] }, identity: { tenant: TENANT } },
  { about: "a disposable domain, degraded, under lenient", input: "jane@yopmail.com", policy: "lenient", listed: ["disposable"], records: ALL_SILENT },
  { about: "a relay behind amazon", input: "jane@mozmail.com", listed: ["relay"], records: { "MX @": ["10 inbound-smtp.us-west-2.amazonaws.com"], "TXT @": ["v=spf1 include:amazonses.com -all"] }, identity: { tenant: TENANT } },
  { about: "a relay with its own hosts, under strict", input: "jane@duck.com", policy: "strict", listed: ["relay"], records: { "MX @": ["10 smtp-inbound1.duck.com"] } },
  { about: "the group service's domain", input: "friends@googlegroups.com", records: { "MX @": ["5 gmr-smtp-in.l.google.com"], "TXT @": ["v=spf1 redirect=_spf.google.com"] } },
]

/** Names that say what they are in words that hardly anyone else uses, and what is known beside them. */
// biome-ignore format: a case a line
const PATTERN_CASES: readonly DomainCase[] = [
  { about: "a town by its name, with mail of its own", input: "jane@cityofappleford.us", records: { "MX @": ["10 mx.cityofappleford.us"] } },
  { about: "a school by its name, under strict", input: "jane@gymnasium-appleford.de", policy: "strict", records: { "MX @": ["10 mx.gymnasium-appleford.de"] } },
  { about: "a host below a town's name", input: "jane@clerk.townofappleford.org", records: { "MX @": ["10 mx.townofappleford.org"] } },
  { about: "a town by its name, with an address only", input: "jane@mairie-appleford.fr", records: { "A @": ["198.51.99.1"] } },
  { about: "a town's name as a website", input: "http://www.cm-appleford.pt/", records: { "A @": ["198.51.99.1"] } },
  { about: "a town's name without mail host and address", input: "jane@gmina-appleford.pl", records: { "TXT @": ["v=spf1 -all"] } },
  { about: "a town's name that does not exist", input: "jane@villageofappleford.com", records: {} },
  { about: "a school with mail at suite_a: known mail comes first", input: "jane@lycee-appleford.fr", records: { "MX @": ["1 aspmx.l.google.com"] } },
  { about: "a town's name on the disposable list: a listing wins", input: "jane@townofstonington.com", listed: ["disposable"], records: { "MX @": ["10 mx.townofstonington.com"] } },
  { about: "a town's name under a suffix that is free", input: "jane@cityofappleford.eu.cc", listed: ["free_subdomain"], records: { "MX @": ["10 mx.cityofappleford.eu.cc"] } },
  { about: "a town's name below another's", input: "jane@cityofappleford.acme-village.us", records: { "MX @": ["10 mx.acme-village.us"], "A mx.acme-village.us.": ["20.1.2.3"] } },
  { about: "a driving school, which is none", input: "jane@fahrschule-appleford.de", records: { "MX @": ["10 mx.fahrschule-appleford.de"] } },
  { about: "a town's name while DNS is away", input: "jane@countyofappleford.org", records: { "MX @": "timed_out", "A @": "timed_out", "AAAA @": "timed_out", "TXT @": "timed_out" } },
]

/** All domains of the golden file, in its order. */
export const DOMAIN_CASES: readonly DomainCase[] = [
  ...SUITE_CASES,
  ...MAILBOX_CASES,
  ...FORWARDER_CASES,
  ...PROVIDER_CASES,
  ...GATEWAY_CASES,
  ...HOST_CASES,
  ...NAME_CASES,
  ...FAULT_CASES,
  ...TENANT_CASES,
  ...LISTED_CASES,
  ...PATTERN_CASES,
]
