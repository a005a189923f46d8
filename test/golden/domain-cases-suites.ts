import type { DomainCase } from "../support/domain-case.ts"

/** The hosts of suite_a and suite_b, their placeholders and their consumers' hosts. */
// biome-ignore format: a case a line
export const SUITE_CASES: readonly DomainCase[] = [
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
