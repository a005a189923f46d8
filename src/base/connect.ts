import { connect as connectTcp, isIP, type Socket } from "node:net"
import { connect as connectTls } from "node:tls"
import { assert } from "./errors.ts"

/** Where a connection goes: an IP address, never a name, and a port; and the name that must prove itself there by TLS; null: no TLS. */
export type ConnectTarget = { readonly address: string; readonly port: number; readonly tlsName: string | null }

/** A connection that stands. */
export type ByteConnection = {
  readonly send: (text: string) => void
  /** What comes in, until the other side ends it; no more is read than is asked for. Rejects when it breaks off. */
  readonly chunks: AsyncIterable<Uint8Array>
}

/** Why no connection stands: the port is shut; nobody is reached; or TLS failed, the certificate's name among it. */
export type ConnectErrorReason = "refused" | "unreachable" | "untrusted"

/** Says why no connection stands. */
export class ConnectError extends Error {
  override readonly name = "ConnectFault"
  readonly reason: ConnectErrorReason

  constructor(why: ConnectErrorReason) {
    super(why)
    this.reason = why
  }
}

/**
 * Opens a connection to the endpoint; with TLS it stands only when the certificate is trusted and is the name's. Aborting
 * the signal ends it at any time. Rejects with a `ConnectError`.
 */
export type Connect = (endpoint: ConnectTarget, signal: AbortSignal) => Promise<ByteConnection>

/** Builds a `Connect` over sockets. `authorities`: the certificates to trust, as PEM, in place of the built-in ones. */
export function socketConnect(authorities: string | null = null): Connect {
  return (endpoint, signal) => {
    assert(isIP(endpoint.address) !== 0, "a connection goes to an address: a name would be resolved once more")
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(new ConnectError("unreachable"))
      const socket = openSocket(endpoint, authorities)
      let isReached = false
      socket.once("connect", () => {
        isReached = true
      })
      // It stays when the connection stands: a socket whose error nobody hears would end the process.
      socket.on("error", fault => reject(new ConnectError(errorReason(fault, isReached && endpoint.tlsName !== null))))
      socket.once("close", () => reject(new ConnectError("unreachable")))
      socket.once(endpoint.tlsName === null ? "connect" : "secureConnect", () => {
        resolve({ send: text => void socket.write(text), chunks: socket })
      })
      signal.addEventListener("abort", () => socket.destroy(), { once: true })
    })
  }
}

function openSocket({ address, port, tlsName }: ConnectTarget, authorities: string | null): Socket {
  if (tlsName === null) return connectTcp({ host: address, port })
  return connectTls({
    host: address,
    port,
    // Both what is asked for (SNI) and what the certificate must be of (RFC 6125).
    servername: tlsName,
    rejectUnauthorized: true,
    ALPNProtocols: ["http/1.1"],
    ...(authorities === null ? {} : { ca: authorities }),
  })
}

function errorReason(fault: Error, isHandshake: boolean): ConnectErrorReason {
  if (isHandshake) return "untrusted"
  return "code" in fault && fault.code === "ECONNREFUSED" ? "refused" : "unreachable"
}
