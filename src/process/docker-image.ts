import { UserError } from '../runtime/errors.ts';
import { type Report, withStep } from '../runtime/events.ts';
import { shell } from '../text/shell-word.ts';
import type { Daemon } from './docker-daemon.ts';
import type { Runner } from './runner.ts';

export interface ImageRequest {
  runner: Runner;
  daemon: Daemon;
  image: string;
}

export async function hasImage({ runner, daemon, image }: ImageRequest): Promise<boolean> {
  const { exitCode } = await runner.run({ file: daemon.program, args: ['image', 'inspect', '--format', '.', image] });
  return exitCode === 0;
}

export interface PullRequest extends ImageRequest {
  report: Report;
  /** Stops a pull, which otherwise continues after its command. */
  signal: AbortSignal;
}

export async function ensureImage(request: PullRequest): Promise<void> {
  if (await hasImage(request)) return;
  const { runner, daemon, image, report, signal } = request;
  const step = { step: 'pull', label: `Pull ${image}`, done: `Pulled ${image}` };
  await withStep(report, step, async () => {
    const child = runner.start({ file: daemon.program, args: ['pull', image] }, { signal });
    child.stdin.end();
    const layers = layerCount();
    let unfinished = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (unfinished + chunk).split('\n');
      unfinished = lines.pop() ?? '';
      const counted = lines.map(layers).at(-1);
      if (counted) report({ event: 'progress', step: 'pull', ...counted, unit: 'layers' });
    });
    const { exitCode, stderr } = await child.ended;
    if (exitCode !== 0) throw unavailable(image, stderr);
  });
}

const HERE = new Set(['Already exists', 'Pull complete']);

/** Counts layers by the lines of `docker pull`: `3f4a…: Pull complete`. Podman's lines have no such form. */
export function layerCount(): (line: string) => { done: number; total: number } {
  const layers = new Map<string, string>();
  return (line) => {
    const [, layer, state] = /^([0-9a-f]{12}): (.+)$/.exec(line.trim()) ?? [];
    if (layer !== undefined && state !== undefined) layers.set(layer, state);
    return { done: [...layers.values()].filter((last) => HERE.has(last)).length, total: layers.size };
  };
}

function unavailable(image: string, stderr: string): UserError {
  return new UserError('image_unavailable', `Cannot pull the image ${image}`, {
    details: stderr.trim().split('\n'),
    hint: `Check docker.images and its registry. For a private one: docker login. Then: ${shell`docker pull ${image}`}`,
  });
}
