import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const PROGRAM = '/usr/bin/chromium';
export const hasChromium = existsSync(PROGRAM);

/** A real browser without a window, with one page. https://chromedevtools.github.io/devtools-protocol/ */
export interface Chromium extends AsyncDisposable {
  go(url: string): Promise<void>;
  /** What an expression is on the page that is there now; `undefined` while there is none. */
  evaluate(expression: string): Promise<unknown>;
}

export async function startChromium(): Promise<Chromium> {
  const folder = await mkdtemp(join(tmpdir(), 'tool-chromium-'));
  const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run', '--remote-debugging-port=0'];
  const child = spawn(PROGRAM, [...flags, `--user-data-dir=${folder}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, HOME: folder },
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const socket = new WebSocket(await debuggingUrl(child.stderr));
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', reject);
  });
  const waiting = new Map<number, (answer: Answer) => void>();
  socket.addEventListener('message', ({ data }) => {
    const answer: Answer = JSON.parse(String(data));
    if (answer.id !== undefined) waiting.get(answer.id)?.(answer);
  });
  let last = 0;
  const ask = (method: string, params: object, sessionId?: string): Promise<Answer> => {
    last += 1;
    const answered = new Promise<Answer>((resolve) => waiting.set(last, resolve));
    socket.send(JSON.stringify({ id: last, method, params, sessionId }));
    return answered;
  };
  const { result: target } = await ask('Target.createTarget', { url: 'about:blank' });
  const attached = await ask('Target.attachToTarget', { targetId: target?.targetId, flatten: true });
  const page = String(attached.result?.sessionId);
  return {
    go: async (url) => void (await ask('Page.navigate', { url }, page)),
    async evaluate(expression) {
      const { result } = await ask('Runtime.evaluate', { expression, returnByValue: true }, page);
      return (result?.result as { value?: unknown } | undefined)?.value;
    },
    async [Symbol.asyncDispose]() {
      socket.close();
      child.kill();
      await ended;
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

interface Answer {
  id?: number;
  result?: Record<string, unknown>;
}

async function debuggingUrl(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const url = /^DevTools listening on (ws:\S+)/.exec(line)?.[1];
    if (url === undefined) continue;
    output.resume();
    return url;
  }
  throw new Error('Chromium did not start');
}
