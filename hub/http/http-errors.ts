import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { Problem } from '../problem.ts';
import { problemHeaders } from './answer.ts';

// Answers to requests that the HTTP server itself refuses, before a route sees them.

/** Status and detail by the code of an error of Node's parser. */
const REFUSED: Record<string, [status: number, detail: string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time'],
  HPE_HEADER_OVERFLOW: [431, 'The headers of the request are too large'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The chunk extensions of the request are too large'],
};

/** Answers malformed requests as problem documents. */
export function answerHttpErrors(server: Server): void {
  const answers = new WeakMap<Duplex, ServerResponse>();
  server.on('request', (request: IncomingMessage, response) => void answers.set(request.socket, response));
  server.on('checkExpectation', (_request, response: ServerResponse) => {
    const { body, headers } = problem(417, 'The hub meets no expectation but 100-continue');
    response.writeHead(417, headers).end(body);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const begun = answers.get(socket);
    const isAnswering = begun?.headersSent === true && !begun.writableFinished;
    if (error.code === 'ECONNRESET' || !socket.writable || isAnswering) {
      socket.destroy(error);
      return;
    }
    const [status, detail] = REFUSED[error.code ?? ''] ?? [400, 'The request is not valid HTTP'];
    const { body, headers } = problem(status, detail);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines].join('\r\n');
    socket.end(`${head}\r\n\r\n${body}`, () => socket.destroy());
  });
}

/** Answers a request whose address or `Host` is not valid. */
export function invalidAddress(): Response {
  const { body, headers } = problem(400, 'The address or the Host of the request is not valid');
  return new Response(body, { status: 400, headers });
}

function problem(status: number, detail: string): { body: string; headers: Record<string, string> } {
  const requestId = randomUUID();
  const document = { ...new Problem('cloud_refused', detail).body(requestId), status };
  const body = JSON.stringify(document);
  const length = String(Buffer.byteLength(body));
  return { body, headers: { ...problemHeaders(requestId), 'content-length': length, connection: 'close' } };
}
