import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';

const PROGRAM = '/usr/bin/chromium';
export const hasChromium = existsSync(PROGRAM);

/** A real browser without a window, with one page. https://chromedevtools.github.io/devtools-protocol/ */
export interface Chromium extends AsyncDisposable {
  go(url: string): Promise<void>;
  /** What an expression is on the page that is there now; `undefined` while there is none. */
  evaluate(expression: string): Promise<unknown>;
  /** Until the page is loaded and the expression is true. */
  until(expression: string): Promise<void>;
  /** A command of the protocol. */
  ask(method: string, params?: object): Promise<Record<string, unknown>>;
  /** Presses a key: `Tab`, `Enter`. */
  press(key: string): Promise<void>;
  /** URLs that were requested. */
  requests: string[];
  /** Errors and warnings of its console. */
  complaints: string[];
}

/** Milliseconds. */
const PATIENCE = 20_000;

const KEYS: Record<string, object> = {
  Tab: { key: 'Tab', code: 'Tab', windowsVirtualKeyCode: 9 },
  Enter: { key: 'Enter', code: 'Enter', windowsVirtualKeyCode: 13, text: '\r' },
  Space: { key: ' ', code: 'Space', windowsVirtualKeyCode: 32, text: ' ' },
};

export async function startChromium(): Promise<Chromium> {
  const folder = await mkdtemp(join(tmpdir(), 'tool-chromium-'));
  const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run', '--remote-debugging-port=0'];
  // Servers of tests sign their own certificates.
  flags.push('--ignore-certificate-errors');
  // A page that names another host must not wait for a name service.
  flags.push('--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1');
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
  const requests: string[] = [];
  const complaints: string[] = [];
  socket.addEventListener('message', ({ data }) => {
    const answer: Answer = JSON.parse(String(data));
    if (answer.id !== undefined) waiting.get(answer.id)?.(answer);
    else note(answer, { requests, complaints });
  });
  let last = 0;
  const ask = async (method: string, params: object = {}, sessionId?: string): Promise<Record<string, unknown>> => {
    last += 1;
    const id = last;
    const answered = new Promise<Answer>((resolve) => waiting.set(id, resolve));
    socket.send(JSON.stringify({ id, method, params, sessionId }));
    const { result, error } = await answered;
    waiting.delete(id);
    if (error) throw new Error(`${method}: ${error.message}`);
    return result ?? {};
  };
  const target = await ask('Target.createTarget', { url: 'about:blank' });
  const attached = await ask('Target.attachToTarget', { targetId: target.targetId, flatten: true });
  const page = String(attached.sessionId);
  const askPage = (method: string, params: object = {}) => ask(method, params, page);
  for (const domain of ['Network', 'Log', 'Runtime', 'Page']) await askPage(`${domain}.enable`);
  const evaluate = async (expression: string): Promise<unknown> => {
    // A navigation ends what is evaluated.
    const answer = await askPage('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true }).catch(
      () => ({}),
    );
    return (answer as { result?: { value?: unknown } }).result?.value;
  };
  return {
    go: async (url) => void (await askPage('Page.navigate', { url })),
    evaluate,
    async until(expression) {
      const deadline = Date.now() + PATIENCE;
      while ((await evaluate(`document.readyState === 'complete' && Boolean(${expression})`)) !== true) {
        if (Date.now() > deadline) throw new Error(`Not on the page: ${expression}`);
        await wait(20);
      }
    },
    ask: askPage,
    async press(key) {
      const event = KEYS[key] ?? {};
      await askPage('Input.dispatchKeyEvent', { type: 'keyDown', ...event });
      await askPage('Input.dispatchKeyEvent', { type: 'keyUp', ...event, text: undefined });
    },
    requests,
    complaints,
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
  error?: { message: string };
  method?: string;
  params?: {
    request?: { url: string };
    entry?: { level: string; text: string };
    type?: string;
    args?: { value?: unknown }[];
    exceptionDetails?: { text: string };
  };
}

function note({ method, params }: Answer, { requests, complaints }: Pick<Chromium, 'requests' | 'complaints'>): void {
  if (method === 'Network.requestWillBeSent') requests.push(params?.request?.url ?? '');
  if (method === 'Log.entryAdded' && params?.entry?.level !== 'info') complaints.push(params?.entry?.text ?? '');
  if (method === 'Runtime.exceptionThrown') complaints.push(params?.exceptionDetails?.text ?? '');
  if (method === 'Runtime.consoleAPICalled') complaints.push(String(params?.args?.[0]?.value));
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
