import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const run = promisify(execFile);

/** A code block of a page. */
export interface Block {
  /** `docs/hub.md: One machine with systemd` */
  title: string;
  language: string;
  text: string;
}

/** The code blocks of a page, with their headings. */
export async function blocksOf(file: string): Promise<Block[]> {
  const page = await readFile(join(ROOT, file), 'utf8');
  const blocks: Block[] = [];
  let heading = '';
  for (const [, title, language, text] of page.matchAll(/^#+ (.+)$|^```(\w+)\n([\s\S]*?)^```$/gm)) {
    if (title !== undefined) heading = title;
    else blocks.push({ title: `${file}: ${heading}`, language: language ?? '', text: text ?? '' });
  }
  return blocks;
}

export const isShell = ({ language }: Block): boolean => language === 'sh';

/** How `tool` is started in a script: the bundle, which the test has built. */
export const TOOL = `exec ${JSON.stringify(process.execPath)} ${JSON.stringify(join(ROOT, 'dist/tool.js'))} "$@"`;

export interface DocumentedSession {
  /** Home and, below it, the current folder `work`. */
  home: string;
  folder: string;
  /** The commands of a block, one shell for all; its output. Rejects with the output when a command fails. */
  shell(block: Block, environment?: NodeJS.ProcessEnv): Promise<string>;
}

interface SessionOptions {
  /** Shell scripts by name, before the programs of the machine. */
  programs?: Record<string, string>;
  /** Text of the page with what there is here instead. */
  substitutes?: [string, string][];
  environment?: NodeJS.ProcessEnv;
}

/** A folder in which the commands of a page run as they are printed. */
export async function openDocumentedSession({
  programs = {},
  substitutes = [],
  environment = {},
}: SessionOptions): Promise<DocumentedSession> {
  const home = await mkdtemp(join(tmpdir(), 'tool-documented-'));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const [bin, folder] = [join(home, 'bin'), join(home, 'work')];
  for (const path of [bin, folder]) await mkdir(path);
  for (const [name, text] of Object.entries({ tool: TOOL, ...programs })) {
    await writeFile(join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }
  const base = {
    PATH: `${bin}:${process.env.PATH}`,
    TMPDIR: process.env.TMPDIR,
    HOME: home,
    TOOL_TRUST: 'true',
    TOOL_NO_CONFIRM: 'true',
    ...environment,
  };
  return {
    home,
    folder,
    async shell({ title, text }, own = {}) {
      const script = substitutes.reduce((changed, [from, to]) => changed.replaceAll(from, to), text);
      const options = { cwd: folder, env: { ...base, ...own }, timeout: 60_000 };
      try {
        const { stdout, stderr } = await run('bash', ['--norc', '-euo', 'pipefail', '-c', script], options);
        return stdout + stderr;
      } catch (error) {
        const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
        throw new Error(`${title}\n${script}\n${stdout}${stderr}`);
      }
    },
  };
}
