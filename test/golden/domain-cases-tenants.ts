import type { DomainCase } from "../support/domain-case.ts"

const TENANT = "3a1e7c54-92bd-4f08-b6d1-0c4f8e25a973"
/** What a domain publishes whose mail suite_b runs. */
const SUITE_B = {
  "MX @": ["0 tenant-com.mail.protection.outlook.com"],
  "TXT @": ["v=spf1 include:spf.protection.outlook.com -all"],
  "TXT _dmarc": ["v=DMARC1; p=none"],
} as const
const OWN_HOST = {
  "MX @": ["10 mx.own-host.net"],
  "TXT @": ["v=spf1 mx -all"],
  "TXT _dmarc": ["v=DMARC1; p=none"],
} as const

/** What suite_b's identity endpoints say of domains whose mail it runs, and of others. */
// biome-ignore format: a case a line
export const TENANT_CASES: readonly DomainCase[] = [
  // How people sign in.
  { about: "managed", input: "jane@alpine-haven.com", records: SUITE_B, identity: { tenant: TENANT, region: "EU", realm: "Managed" } },
  { about: "managed, in North America, for a domain", input: "aspen-haven.com", records: SUITE_B, identity: { tenant: TENANT, region: "NA", realm: "Managed" } },
  { about: "a managed domain has no identity provider, whatever is said", input: "jane@balsam-haven.com", records: SUITE_B, identity: { tenant: TENANT, region: "AS", realm: "Managed", authUrl: "https://balsam.okta.com/" } },
  { about: "federated: okta", input: "jane@ash-haven.com", records: SUITE_B, identity: { tenant: TENANT, region: "EU", realm: "Federated", authUrl: "https://ash-haven.okta.com/app/office365/exkeoydqsycke55hh356/sso/wsfed/passive?username=x%40ash-haven.com&wa=wsignin1.0&wtrealm=urn%3afederation%3aMicrosoftOnline" } },
  { about: "federated: okta on a host of one's own", input: "jane@beech-haven.com", records: SUITE_B, identity: { tenant: TENANT, region: "EU", realm: "Federated", authUrl: "https://login.beech-haven.com/app/office365/exk37yw079IDNyIam4x7/sso/wsfed/passive" } },
  { about: "federated: adfs", input: "jane@cypress-haven.com", records: SUITE_B, identity: { tenant: TENANT, region: "EU", realm: "Federated", authUrl: "https://sts.cypress-haven.com/adfs/ls/?username=x%40cypress-haven.com&wa=wsignin1.0" } },
  { about: "federated: ping", input: "jane@ebony-haven.com", records: SUITE_B, identity: { tenant: TENANT, region: "EU", realm: "Federated", authUrl: "https://sso.connect.pingidentity.com/sso/idp/SSO.saml2?idpid=1" } },
  { about: "federated: onelogin", input: "jane@hemlock-haven.com", records: SUITE_B, identity: { tenant: TENANT, region: "EU", realm: "Federated", authUrl: "https://hemlock.onelogin.com/trust/saml2/http-post/sso/917654" } },
  { about: "federated: duo", input: "jane@hornbeam-haven.com", records: SUITE_B, identity: { tenant: TENANT, region: "EU", realm: "Federated", authUrl: "https://sso-1a2b.sso.duosecurity.com/saml2/sp/DI1/sso" } },
  { about: "federated: jumpcloud", input: "jane@ironwood-haven.com", records: SUITE_B, identity: { tenant: TENANT, region: "EU", realm: "Federated", authUrl: "https://sso.jumpcloud.com/saml2/office365" } },
  { about: "federated: auth0", input: "jane@linden-haven.com", records: SUITE_B, identity: { tenant: TENANT, region: "EU", realm: "Federated", authUrl: "https://linden.eu.auth0.com/wsfed/1" } },
  { about: "federated: google", input: "jane@mahogany-haven.com", records: SUITE_B, identity: { tenant: TENANT, region: "EU", realm: "Federated", authUrl: "https://accounts.google.com/o/saml2/idp?idpid=C01" } },
  { about: "federated: secureauth", input: "jane@myrtle-haven.com", records: SUITE_B, identity: { tenant: TENANT, region: "EU", realm: "Federated", authUrl: "https://myrtle.identity.secureauth.com/SecureAuth5/" } },
  { about: "federated: rsa", input: "jane@poplar-haven.com", records: SUITE_B, identity: { tenant: TENANT, region: "EU", realm: "Federated", authUrl: "https://poplar.auth.securid.com/saml-fe/sso" } },
  { about: "federated: self_hosted", input: "jane@redwood-haven.co.uk", records: SUITE_B, identity: { tenant: TENANT, region: "EU", realm: "Federated", authUrl: "https://sso.redwood-haven.co.uk/simplesaml/saml2/idp/SSOService.php" } },
  { about: "federated: self_hosted, for a subdomain", input: "jane@eu.sequoia-haven.com", records: SUITE_B, identity: { tenant: TENANT, region: "EU", realm: "Federated", authUrl: "https://idp.sequoia-haven.com/realms/main/protocol/saml" } },
  { about: "federated: other", input: "jane@sycamore-haven.com", records: SUITE_B, identity: { tenant: TENANT, region: "EU", realm: "Federated", authUrl: "https://login.someone-else-idp.net/saml" } },
  { about: "federated: a vendor's name below another's", input: "jane@tamarack-haven.com", records: SUITE_B, identity: { tenant: TENANT, region: "EU", realm: "Federated", authUrl: "https://tamarack.okta.com.evil-idp.net/app" } },
  { about: "federated without a sign-in page", input: "jane@bamboo-haven.com", records: SUITE_B, identity: { tenant: TENANT, region: "EU", realm: "Federated" } },
  { about: "federated with a sign-in page that is none", input: "jane@boxwood-haven.com", records: SUITE_B, identity: { tenant: TENANT, region: "EU", realm: "Federated", authUrl: "javascript:alert(1)" } },
  { about: "namespace Unknown counts as null", input: "jane@buckeye-haven.com", records: SUITE_B, identity: { tenant: TENANT, region: "EU", realm: "Unknown" } },
  { about: "the region has control characters and is long", input: "jane@catalpa-haven.com", records: SUITE_B, identity: { tenant: TENANT, region: "E\u0000U\u001b[31m and more than thirty-two characters" } },
  { about: "the region is no text", input: "jane@cork-haven.com", records: SUITE_B, identity: { tenant: TENANT, region: 7 } },
  { about: "the id in capitals", input: "jane@fern-haven.com", records: SUITE_B, identity: { tenant: "3A1E7C54-92BD-4F08-B6D1-0C4F8E25A973", region: "EU" } },
  { about: "the id is no uuid", input: "jane@gum-haven.com", records: SUITE_B, identity: { tenant: "common", region: "EU" } },
  { about: "the consumers' tenant is no domain's own", input: "jane@holly-haven.com", records: SUITE_B, identity: { tenant: "9188040d-6c67-4c5b-b112-36a304b66dad" } },
  // A tenant, and the mail elsewhere.
  { about: "a tenant, mail on an own host", input: "jane@kapok-haven.com", records: OWN_HOST, identity: { tenant: TENANT, region: "EU", realm: "Managed" } },
  { about: "a tenant, mail on suite_a", input: "jane@laurel-haven.com", records: { "MX @": ["1 aspmx.l.google.com"], "TXT @": ["v=spf1 include:_spf.google.com -all"] }, identity: { tenant: TENANT, region: "EU", realm: "Federated", authUrl: "https://accounts.google.com/o/saml2/idp?idpid=C02" } },
  { about: "a tenant, mail on another suite", input: "jane@locust-haven.com", records: { "MX @": ["10 mx.zoho.com"] }, identity: { tenant: TENANT, region: "EU" } },
  { about: "a tenant behind a gateway", input: "jane@magnolia-haven.com", records: { "MX @": ["10 us-smtp-inbound-1.mimecast.com"] }, identity: { tenant: TENANT, region: "NA" } },
  { about: "a tenant and a placeholder", input: "jane@mangrove-haven.com", records: { "MX @": ["0 ms12345678.msv1.invalid.outlook.com", "10 mx.own-host.net"] }, identity: { tenant: TENANT, region: "EU" } },
  { about: "a tenant and no mail", input: "jane@mimosa-haven.com", records: { "A @": ["198.51.99.1"] }, identity: { tenant: TENANT, region: "EU" } },
  { about: "a tenant and no mail, for a website", input: "https://www.nutwood-haven.com/", records: { "A @": ["198.51.99.1"] }, identity: { tenant: TENANT, region: "EU" } },
  { about: "a tenant and a null MX", input: "jane@palm-haven.com", records: { "MX @": ["0 ."], "A @": ["198.51.99.1"] }, identity: { tenant: TENANT, region: "EU" } },
  { about: "a tenant of a name that DNS denies", input: "jane@pawpaw-haven.com", records: {}, identity: { tenant: TENANT, region: "EU" } },
  { about: "a tenant before a disposable host", input: "jane@plane-haven.com", records: { "MX @": ["10 in.mail.tm"] }, identity: { tenant: TENANT, region: "EU" } },
  { about: "a tenant before gmail's consumer hosts", input: "jane@rosewood-haven.com", records: { "MX @": ["5 gmail-smtp-in.l.google.com"] }, identity: { tenant: TENANT, region: "EU" } },
  // No tenant, and no answer.
  { about: "no tenant, mail on suite_b", input: "jane@satin-haven.com", records: SUITE_B },
  { about: "no tenant, mail on an own host", input: "jane@tallow-haven.com", records: OWN_HOST },
  { about: "the endpoints fail", input: "jane@tulipwood-haven.com", records: SUITE_B, identity: 500 },
  { about: "the endpoints ask to be left alone", input: "jane@tupelo-haven.com", records: SUITE_B, identity: 429 },
  { about: "nobody listens at the endpoints", input: "jane@viburnum-haven.com", records: OWN_HOST, identity: "unreachable" },
  { about: "the endpoints hang", input: "jane@wenge-haven.com", records: SUITE_B, identity: "hangs" },
  { about: "the endpoints hang until they are given up: no longer pending", input: "jane@witchhazel-haven.com", again: true, records: OWN_HOST, identity: "hangs" },
  { about: "the realm alone fails", input: "jane@zebrawood-haven.com", records: SUITE_B, identity: { tenant: TENANT, region: "EU", realm: 500 } },
  { about: "the realm alone is not reached", input: "jane@zelkova-haven.com", records: SUITE_B, identity: { tenant: TENANT, region: "EU", realm: "unreachable" } },
  // Nobody asks.
  { about: "workspace false: no tenant is asked for", input: "jane@acacia-haven.com", workspace: false, records: SUITE_B, identity: { tenant: TENANT, region: "EU" } },
  { about: "workspace false: clues of DNS stay", input: "jane@banyan-haven.com", workspace: false, records: { "MX @": ["10 us-smtp-inbound-1.mimecast.com"], "CNAME autodiscover": ["autodiscover.outlook.com"] }, identity: { tenant: TENANT, region: "EU" } },
  { about: "workspace false: what would hang is not pending", input: "jane@baobab-haven.com", workspace: false, records: OWN_HOST, identity: "hangs" },
]
