/** A response about a domain in the shape of one registry's, and its registration date. */
export type RegistryAnswer = {
  readonly registry: string
  readonly domain: string
  readonly answer: unknown
  /** Null: it has none. */
  readonly registered: string | null
}

const EVENT = (eventAction: string, eventDate: unknown, more: object = {}) => ({ eventAction, eventDate, ...more })

/** A registrar, whose own events are not the domain's. */
const registrar = (handle: string, events: unknown = [EVENT("registration", "2001-02-03T04:05:06Z")]) => ({
  objectClassName: "entity",
  handle,
  roles: ["registrar"],
  publicIds: [{ type: "IANA Registrar ID", identifier: handle }],
  vcardArray: [
    "vcard",
    [
      ["version", {}, "text", "4.0"],
      ["fn", {}, "text", "Registrar, Inc."],
    ],
  ],
  events,
  entities: [
    {
      objectClassName: "entity",
      roles: ["abuse"],
      vcardArray: ["vcard", [["version", {}, "text", "4.0"]]],
      events: [EVENT("registration", "1999-01-01T00:00:00Z")],
    },
  ],
})

const nameServer = (ldhName: string) => ({
  objectClassName: "nameserver",
  ldhName,
  events: [EVENT("registration", "1998-01-01T00:00:00Z")],
})

/** One response for each shape. */
export const REGISTRY_ANSWERS: readonly RegistryAnswer[] = [
  {
    registry: "Verisign, .com: capitals, and the last update of the database as an event",
    domain: "acme.com",
    registered: "1997-09-15T04:00:00Z",
    answer: {
      objectClassName: "domain",
      handle: "2138514_DOMAIN_COM-VRSN",
      ldhName: "ACME.COM",
      links: [
        { value: "https://rdap.verisign.com/com/v1/domain/ACME.COM", rel: "self", type: "application/rdap+json" },
      ],
      status: ["client delete prohibited"],
      entities: [registrar("292")],
      events: [
        EVENT("registration", "1997-09-15T04:00:00Z"),
        EVENT("expiration", "2028-09-14T04:00:00Z"),
        EVENT("last changed", "2019-09-09T15:39:04Z"),
        EVENT("last update of RDAP database", "2026-01-01T00:00:00Z"),
      ],
      secureDNS: { delegationSigned: false },
      nameservers: [nameServer("NS1.ACME.COM")],
      rdapConformance: ["rdap_level_0", "icann_rdap_technical_implementation_guide_1", "redacted"],
      notices: [{ title: "Terms of Use", description: ["…"] }],
    },
  },
  {
    registry: "Public Interest Registry, .org: fractions of a second, and redacted parts (RFC 9537)",
    domain: "acme.org",
    registered: "1998-10-27T05:00:00Z",
    answer: {
      rdapConformance: ["rdap_level_0", "redacted", "icann_rdap_response_profile_1"],
      objectClassName: "domain",
      handle: "d1f1a4-LROR",
      ldhName: "acme.org",
      unicodeName: "acme.org",
      events: [
        EVENT("expiration", "2029-10-26T04:00:00.0Z"),
        EVENT("registration", "1998-10-27T05:00:00.123Z"),
        EVENT("last changed", "2025-09-30T19:09:13.53Z"),
      ],
      redacted: [{ name: { description: "Registrant Name" }, prePath: "$.entities[0]", method: "emptyValue" }],
      entities: [registrar("299")],
    },
  },
  {
    registry: "Identity Digital: milliseconds, and actors of events",
    domain: "acme.info",
    registered: "2001-07-31T09:31:16Z",
    answer: {
      objectClassName: "domain",
      handle: "7b2c6e-DONUTS",
      ldhName: "acme.info",
      events: [
        EVENT("transfer", "2003-01-01T00:00:00.000Z"),
        EVENT("registration", "2001-07-31T09:31:16.000Z", { eventActor: "292" }),
        EVENT("last update of RDAP database", "2025-12-31T23:59:59.999Z"),
      ],
      rdapConformance: ["rdap_level_0"],
    },
  },
  {
    registry: "Nominet, .uk: one conformance as a text",
    domain: "acme.co.uk",
    registered: "1999-02-14T00:00:00Z",
    answer: {
      rdapConformance: "rdap_level_0",
      notices: [],
      objectClassName: "domain",
      ldhName: "acme.co.uk",
      events: [
        EVENT("registration", "1999-02-14T00:00:00Z"),
        EVENT("expiration", "2027-02-14T00:00:00Z"),
        EVENT("last changed", "2024-01-30T10:23:43Z"),
      ],
      entities: [registrar("STARGATE")],
    },
  },
  {
    registry: "DENIC, .de: no registration among the events",
    domain: "acme.de",
    registered: null,
    answer: {
      objectClassName: "domain",
      ldhName: "acme.de",
      status: ["active"],
      events: [EVENT("last changed", "2018-03-12T21:44:25+01:00"), EVENT("last update of RDAP database", "2026-01-01")],
      rdapConformance: ["rdap_level_0"],
    },
  },
  {
    registry: "a registry that leaves the events out",
    domain: "acme.gr",
    registered: null,
    answer: { objectClassName: "domain", ldhName: "acme.gr", rdapConformance: ["rdap_level_0"] },
  },
  {
    registry: "AFNIC, .fr: the same registration twice, once with an offset",
    domain: "acme.fr",
    registered: "1994-12-31T23:00:00Z",
    answer: {
      rdapConformance: ["rdap_level_0", "afnic_rdap_version_0"],
      lang: "en",
      objectClassName: "domain",
      ldhName: "acme.fr",
      entities: [
        registrar("GANDI"),
        { objectClassName: "entity", roles: ["registrant"], remarks: [{ title: "REDACTED" }] },
      ],
      events: [
        EVENT("registration", "1994-12-31T23:00:00Z"),
        EVENT("registration", "1995-01-01T00:00:00+01:00"),
        EVENT("expiration", "2027-01-01T00:00:00Z"),
      ],
      port43: "whois.nic.fr",
    },
  },
  {
    registry: "NIC.br, .br: the registrant is an entity with events",
    domain: "acme.com.br",
    registered: "1996-04-24T12:00:00Z",
    answer: {
      objectClassName: "domain",
      handle: "acme.com.br",
      ldhName: "acme.com.br",
      nicbr_fsvState: "ok",
      entities: [
        {
          objectClassName: "entity",
          handle: "06990590000123",
          roles: ["registrant"],
          events: [EVENT("registration", "2010-05-06T07:08:09Z")],
        },
      ],
      events: [EVENT("registration", "1996-04-24T12:00:00Z"), EVENT("last changed", "2024-03-21T06:03:59Z")],
      nicbr_level_0: true,
      rdapConformance: ["rdap_level_0", "nicbr_level_0"],
    },
  },
  {
    registry: "Google, .app: nanoseconds, and the deletion of what was there before",
    domain: "acme.app",
    registered: "2018-05-08T16:00:10Z",
    answer: {
      rdapConformance: ["icann_rdap_response_profile_1", "rdap_level_0"],
      objectClassName: "domain",
      handle: "2C5B5A0B4-APP",
      ldhName: "acme.app",
      events: [
        EVENT("registration", "2018-05-08T16:00:10.123456789Z"),
        EVENT("deletion", "2018-05-01T00:00:00Z"),
        EVENT("last changed", "2025-04-11T09:21:45.661Z"),
      ],
    },
  },
  {
    registry: "CZ.NIC, .cz: no offset, and days alone",
    domain: "acme.cz",
    registered: "1997-10-30T00:00:00Z",
    answer: {
      objectClassName: "domain",
      handle: "acme.cz",
      ldhName: "acme.cz",
      events: [EVENT("registration", "1997-10-30T00:00:00"), EVENT("expiration", "2027-03-15")],
    },
  },
  {
    registry: "a country's registry with offsets, and a capital",
    domain: "acme.tw",
    registered: "2009-12-31T16:00:00Z",
    answer: {
      objectClassName: "Domain",
      ldhName: "acme.tw.",
      events: [EVENT("Registration", "2010-01-01T00:00:00+08:00")],
    },
  },
  {
    registry: "a registry of IDN: the U-label stands where the A-label should",
    domain: "xn--bcher-kva.example",
    registered: "2020-06-01T00:00:00Z",
    answer: {
      objectClassName: "domain",
      ldhName: "bücher.example",
      unicodeName: "bücher.example",
      events: [EVENT("registration", "2020-06-01")],
    },
  },
  {
    registry: "a registry whose only event stands without a list",
    domain: "acme.pw",
    registered: "2021-02-03T04:05:00Z",
    answer: { ldhName: "acme.pw", events: EVENT("registration", "2021-02-03 04:05Z") },
  },
]
