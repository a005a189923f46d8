import { type Static, Type } from "@sinclair/typebox"

/*
 * The parts of a CycloneDX 1.6 bill of materials (ECMA-424, bom-1.6.schema.json) that we write, each as strict as it is there
 * or stricter.
 */
const closed = { additionalProperties: false }
const text = Type.String({ minLength: 1 })

/** One licence by its SPDX identifier, or an expression alone. */
const Licences = Type.Union([
  Type.Array(Type.Object({ license: Type.Object({ id: text }, closed) }, closed), { minItems: 1, maxItems: 1 }),
  Type.Array(Type.Object({ expression: text }, closed), { minItems: 1, maxItems: 1 }),
])

const Hashes = Type.Array(
  Type.Union([
    Type.Object({ alg: Type.Literal("SHA-256"), content: Type.String({ pattern: "^[0-9a-f]{64}$" }) }, closed),
    Type.Object({ alg: Type.Literal("SHA-512"), content: Type.String({ pattern: "^[0-9a-f]{128}$" }) }, closed),
  ]),
  { minItems: 1 },
)

const Reference = Type.Object(
  {
    type: Type.Union([Type.Literal("vcs"), Type.Literal("website")]),
    url: Type.String({ pattern: "^https?://\\S+$" }),
  },
  closed,
)

const Component = Type.Object(
  {
    type: Type.Union(["application", "library", "platform", "data"].map(type => Type.Literal(type))),
    "bom-ref": text,
    group: Type.Optional(text),
    name: text,
    version: Type.Optional(text),
    description: Type.Optional(text),
    purl: Type.Optional(Type.String({ pattern: "^pkg:[a-z]+/\\S+@\\S+$" })),
    hashes: Type.Optional(Hashes),
    licenses: Type.Optional(Licences),
    externalReferences: Type.Optional(Type.Array(Reference, { minItems: 1, uniqueItems: true })),
    /** Of components of type `data` only. */
    data: Type.Optional(
      Type.Array(Type.Object({ type: Type.Literal("dataset"), name: text }, closed), { minItems: 1 }),
    ),
  },
  closed,
)

const Dependency = Type.Object({ ref: text, dependsOn: Type.Array(text, { uniqueItems: true }) }, closed)

/** A bill of materials, without a time: the same content is the same bill. */
export const Bill = Type.Object(
  {
    $schema: Type.Literal("http://cyclonedx.org/schema/bom-1.6.schema.json"),
    bomFormat: Type.Literal("CycloneDX"),
    specVersion: Type.Literal("1.6"),
    serialNumber: Type.String({ pattern: "^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$" }),
    version: Type.Integer({ minimum: 1 }),
    metadata: Type.Object(
      { lifecycles: Type.Array(Type.Object({ phase: Type.Literal("build") }, closed)), component: Component },
      closed,
    ),
    components: Type.Array(Component, { uniqueItems: true }),
    dependencies: Type.Array(Dependency, { uniqueItems: true }),
  },
  closed,
)
export type Bill = Static<typeof Bill>
export type Component = Static<typeof Component>
