import { expect, test } from "bun:test"
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from "node:net"
import { join } from "node:path"
import { createServer as createTlsServer, type TLSSocket } from "node:tls"
import { type Connect, ConnectError, type ConnectTarget, socketConnect } from "../../src/base/connect.ts"
import { bounded } from "../support/bounded.ts"
import { onTestEnd } from "../support/on-test-end.ts"

const certificate = (name: string): Promise<string> => Bun.file(join(import.meta.dir, "certificates", name)).text()

const authority = await certificate("authority.pem")
const keys = { acme: await certificate("acme.key"), other: await certificate("other.key") }
const never = new AbortController().signal

async function listening(server: Server): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, "127.0.0.1", resolve)
  await promise
  onTestEnd(() => server.close())
  return (server.address() as AddressInfo).port // it listens on a port
}

/** A server that greets whoever connects and ends; what it was told of the name that was wanted. */
async function greeter(cert: string, key: string): Promise<{ readonly port: number; readonly requests: unknown[] }> {
  const requests: unknown[] = []
  const server = createTlsServer({ cert: await certificate(cert), key }, (socket: TLSSocket) => {
    requests.push(socket.servername)
    socket.on("error", () => undefined).end("hello")
  })
  server.on("tlsClientError", () => undefined)
  return { port: await listening(server), requests }
}

async function received(connect: Connect, endpoint: ConnectTarget): Promise<string> {
  const work = async (): Promise<string> => {
    const connection = await connect(endpoint, never)
    let text = ""
    for await (const part of connection.chunks) text += Buffer.from(part).toString()
    return text
  }
  return await bounded(
    work().catch(fault => {
      if (fault instanceof ConnectError) return fault.reason
      throw fault
    }),
    () => `a connection to ${endpoint.address}:${endpoint.port}`,
  )
}

const onLoopback = (port: number, tlsName: string | null): ConnectTarget => ({ address: "127.0.0.1", port, tlsName })

test("a connection goes to the address, and the certificate there must be the name's", async () => {
  const { port, requests } = await greeter("acme.pem", keys.acme)
  expect(await received(socketConnect(authority), onLoopback(port, "acme-holdings.com"))).toBe("hello")
  expect(requests).toEqual(["acme-holdings.com"])
})

test("a certificate of another name, of an unknown authority or of the past is not trusted", async () => {
  const other = await greeter("other.pem", keys.other)
  const own = await greeter("acme.pem", keys.acme)
  const past = await greeter("expired.pem", keys.acme)
  const name = "acme-holdings.com"
  expect(await received(socketConnect(authority), onLoopback(other.port, name))).toBe("untrusted")
  expect(await received(socketConnect(), onLoopback(own.port, name))).toBe("untrusted")
  expect(await received(socketConnect(authority), onLoopback(past.port, name))).toBe("untrusted")
})

test("a server that speaks no TLS is not trusted, and one that hangs up on the way neither", async () => {
  const plain = await listening(
    createTcpServer(socket => socket.on("error", () => undefined).end("HTTP/1.1 400\r\n\r\n")),
  )
  const shy = await listening(createTcpServer(socket => socket.on("error", () => undefined).destroy()))
  expect(await received(socketConnect(authority), onLoopback(plain, "acme-holdings.com"))).toBe("untrusted")
  expect(await received(socketConnect(authority), onLoopback(shy, "acme-holdings.com"))).toBe("untrusted")
})

test("without a name the connection is plain", async () => {
  const port = await listening(createTcpServer(socket => socket.on("error", () => undefined).end("hello")))
  expect(await received(socketConnect(), onLoopback(port, null))).toBe("hello")
})

test("a port where nobody listens refuses", async () => {
  const server = createTcpServer()
  const port = await listening(server)
  const { promise, resolve } = Promise.withResolvers<void>()
  server.close(() => resolve())
  await promise
  expect(await received(socketConnect(), onLoopback(port, null))).toBe("refused")
  expect(await received(socketConnect(), onLoopback(port, "acme-holdings.com"))).toBe("refused")
})

test("a name is never connected to", () => {
  for (const address of ["localhost", "acme-holdings.com", "", "127.1"])
    expect(() => void socketConnect()({ address, port: 80, tlsName: null }, never)).toThrow(
      "a connection goes to an address",
    )
})

test("aborting ends a connection that stands, for both sides", async () => {
  const { promise: accepted, resolve } = Promise.withResolvers<Socket>()
  const port = await listening(createTcpServer(socket => resolve(socket.on("error", () => undefined))))
  const ending = new AbortController()
  const connection = await socketConnect()(onLoopback(port, null), ending.signal)
  const closed = new Promise<void>(done => void accepted.then(socket => socket.resume().once("close", () => done())))
  const reading = connection.chunks[Symbol.asyncIterator]()
    .next()
    .then(
      () => "ended",
      () => "broken",
    )
  ending.abort()
  await bounded(closed, () => "the other side stays open")
  expect(["ended", "broken"]).toContain(await bounded(reading, () => "the reading goes on"))
})

test("with a signal that is aborted already, no connection is made", async () => {
  const accepted: Socket[] = []
  const port = await listening(createTcpServer(socket => void accepted.push(socket)))
  const fault = await socketConnect()(onLoopback(port, null), AbortSignal.abort()).catch(error => error)
  expect(fault).toBeInstanceOf(ConnectError)
  expect(accepted).toHaveLength(0)
})
