import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { createInterface } from 'node:readline';

// The globalSetup of Vitest: the program runs as long as the tests do.
export async function setup() {
  const child = spawn('tool', ['branch', 'serve', 'shop', 'test', '--yes', '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  process.env.TOOL_RESET_SOCKET = JSON.parse(line).socket;
  return async () => {
    child.kill();
    await once(child, 'exit');
  };
}

export async function reset(worker) {
  const sent = request({ socketPath: process.env.TOOL_RESET_SOCKET, path: `/reset/${worker}`, method: 'POST' });
  const [response] = await once(sent.end(), 'response');
  response.resume();
  if (response.statusCode !== 200) throw new Error(`branch ${worker} was not reset: ${response.statusCode}`);
}
