import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Settings } from '../../src/config/schema/settings.ts';
import { toUserError } from '../../src/runtime/errors.ts';
import type { AnyServer, ServerKind } from '../helpers/databases/any-server.ts';
import { watchServer } from '../helpers/databases/watched-server.ts';
import { eventually } from '../helpers/postgres/postgres-server.ts';
import { FAULTS, type Fault, startStatementProxy } from '../helpers/proxies/statement-proxy.ts';
import { oldNode, startTool } from '../helpers/terminal/tool-process.ts';
import type { Round } from '../helpers/trials.ts';
import { DROPPED } from './faulted-branches.ts';
import {
  type FaultedOperation,
  type FaultWorld,
  ORIGINAL,
  PROGRAMS,
  type Preparation,
  TABLES,
  undoOf,
} from './faulted-operation.ts';

/** A server behind a proxy, on which one statement of an operation is spoiled in each round. */
export interface StatementWorld extends AsyncDisposable {
  /** Rounds of one operation, each from what the one before has left; then a run without a fault. */
  rounds(rounds: Round[]): Promise<void>;
  /** The number of the operation. */
  operationOf(round: Round): number;
}

export interface StatementWorldOptions {
  operations: (world: FaultWorld) => Promise<Preparation[]>;
  /** The statement stays as it is; the command as users start it is killed when it comes, under an old Node. */
  kills?: boolean;
}

/** What is killed: the launcher, the program that it has started, or both. */
const KILLED = ['launcher', 'launcher', 'program', 'both'] as const;
type Killed = (typeof KILLED)[number];
/** Within this share of their statements, these have not replaced anything. */
const EARLY = 1 / 3;
const REPLACES_LATE = /^(?:load|subset|reset|branch create|branch reset)/;

/** So many rounds run the command in a process of its own: one. */
const COMMAND_EVERY = 40;
/** So many batches work at two sessions, the others at one, which needs half the time: one. */
const PARALLEL_EVERY = 4;

/** What a run says of itself; null for success. */
interface Said {
  code: string;
  text: string;
}

export async function statementWorld(
  server: AnyServer,
  folder: string,
  { operations, kills = false }: StatementWorldOptions,
): Promise<StatementWorld> {
  const proxy = await startStatementProxy(server.kind, Number(new URL(server.url('source')).port));
  const url = (database: string): string => {
    const through = new URL(server.url(database));
    through.port = String(proxy.port);
    // The proxy reads what passes.
    through.searchParams.set('sslmode', server.kind === 'postgres' ? 'disable' : 'DISABLED');
    return through.href;
  };
  const subset_tables = [{ table: `${server.prefix('source')}.parent`, percent: 60 }];
  const settings: Partial<Settings> = {
    working_directory: join(folder, 'work'),
    defaults: { cpus: 2 },
    targets: {
      app: { snapshot: { src_url: url('source'), dst_url: url('copy') } },
      built: {
        snapshot: { src_url: url('source') },
        sanitize: { dst_url: url('clean'), override_query: "UPDATE parent SET name = concat('p', id)" },
      },
      some: { subset: { src_url: url('source'), dst_url: url('small'), subset_tables } },
    },
  };
  const config = join(folder, 'tool.yml');
  await writeFile(config, JSON.stringify({ secret_key: 'ab'.repeat(16), ...settings }), { mode: 0o600 });
  const watch = await watchServer(server);
  const world: FaultWorld = { server, watch, settings, cpus: 2 };
  await server.create('source');
  await server.run('source', [...TABLES, ...PROGRAMS[server.kind]]);
  const preparations = await operations(world);
  const source = await watch.facts('source');
  const undo = undoOf(world);
  /** Statements of each operation. */
  const counts = new Map<number, number>();
  /** What the server's own program has dumped of a database in a state. */
  const dumps = new Map<string, string>();

  async function expectSource(at: string): Promise<void> {
    expect(await watch.facts('source'), `${at}: the source was changed`).toBe(source);
  }

  async function expectClean(at: string): Promise<void> {
    if (!(await watch.databases()).includes('clean')) return;
    expect(await server.column('clean', ORIGINAL), `${at}: an original value is left`).toEqual(['0']);
  }

  /** Equal states have equal dumps. */
  async function expectDump({ dumped, state }: FaultedOperation, at: string): Promise<void> {
    if (!(await watch.databases()).includes(dumped)) return;
    const facts = await state();
    const dump = withoutMark(await server.content(dumped));
    const known = dumps.get(`${dumped} ${facts}`);
    if (known !== undefined) expect(dump === known, `${at}: another dump\n${difference(known, dump)}`).toBe(true);
    dumps.set(`${dumped} ${facts}`, dump);
  }

  async function inProcess({ run }: FaultedOperation): Promise<Said | null> {
    return run().then(() => null, said);
  }

  async function asCommand({ words, environment = {} }: FaultedOperation): Promise<Said | null> {
    const { code, output } = await startTool({ config, words, environment }).ended;
    if (code === 0) return null;
    const line = output.split('\n').findLast((one) => one.startsWith('{'));
    const { error = null, ...event } = JSON.parse(line ?? '{}');
    const { exit, message, details = [], hint, ...shown } = error ?? event;
    expect(exit, `exit ${code}: ${output}`).toBe(code);
    return { code: shown.code, text: [message, ...details, hint].join('\n') };
  }

  /** Resolves when the program is gone: that of a killed launcher ends by itself. */
  async function killedAt(
    statement: number,
    { words, environment = {} }: FaultedOperation,
    killed: Killed,
  ): Promise<Said | null> {
    const node = oldNode();
    if (node === null) throw new Error('no Node that is too old for the program');
    const run = startTool({ config, words, environment, node });
    let programs: number[] = [];
    proxy.arm(async () => {
      programs = run.descendants();
      if (killed === 'both') run.killGroup();
      else if (killed === 'launcher') run.child.kill('SIGKILL');
      else for (const pid of programs.slice(0, 1)) process.kill(pid, 'SIGKILL');
      await run.ended;
    }, statement);
    const { code, output } = await run.ended;
    const isOver = async () => programs.every((pid) => !existsSync(`/proc/${pid}`));
    await eventually(isOver, { deadline: 60_000 }).catch(() => expect.unreachable(`${words.join(' ')} goes on`));
    return code === 0 ? null : { code: 'killed', text: output };
  }

  /** Resolves with the state that it leaves, and how many statements a run had that ended before the chosen one. */
  async function fault(
    operation: FaultedOperation,
    { round, kind, count }: { round: Round; kind: Fault | Killed; count: number },
  ): Promise<{ left: string; missed: number | null }> {
    const { name, state, before, wanted, isBetween, complete, dumped } = operation;
    const statement = 1 + Math.floor(round.fraction * count);
    let error: Said | null;
    if (isKilled(kind)) {
      error = await killedAt(statement, operation, kind);
    } else {
      proxy.arm(kind, statement);
      error = await (round.number % COMMAND_EVERY === 0 ? asCommand : inProcess)(operation);
    }
    const { spoiled, statements } = proxy.disarm();
    const missed = spoiled === null ? statements : null;
    const at = `${name}, ${kind}${isKilled(kind) ? ' killed' : ''}: ${spoiled}\n${error?.code}: ${error?.text}\n`;
    expect(error?.code, `${at}is a defect`).not.toBe('unexpected');
    let now = await state().catch((thrown) => expect.unreachable(`${at}${thrown}`));
    if (isKilled(kind) && complete?.isNeeded(now)) {
      await complete.run().catch((thrown) => expect.unreachable(`${at}the next command: ${said(thrown).text}`));
      now = await state();
    }
    if (dumped === 'clean') await expectClean(at);
    if (wanted === null) return { left: now, missed };
    const isKnown = now === before || now === wanted || isBetween?.(now) === true;
    expect(isKnown, `${at}the destination is neither old nor new:\n${difference(wanted, now)}`).toBe(true);
    const isEarly = kind === 'launcher' && missed === null && statement < EARLY * count;
    if (isEarly && REPLACES_LATE.test(name)) expect(now === before, `${at}the program went on`).toBe(true);
    if (error === null) expect(now === wanted, `${at}the run succeeded, and the destination is old`).toBe(true);
    // Of several branches some may be new: then the destination is what is meant.
    const isUnchanged = now === before || isBetween?.(now) === true;
    if (/is unchanged/.test(error?.text ?? '')) expect(isUnchanged, `${at}the destination is new`).toBe(true);
    if (/is the new database/.test(error?.text ?? '')) expect(now === wanted, `${at}the destination is old`).toBe(true);
    if (operation.follow) return { left: await operation.follow({ now, round, at }), missed };
    if (operation.undo && now === wanted && now !== before) {
      await undo().catch((thrown) => expect.unreachable(`${at}undo: ${said(thrown).text}`));
      expect((await state()) === before, `${at}undo leads elsewhere`).toBe(true);
      return { left: before, missed };
    }
    return { left: now, missed };
  }

  const operationOf = ({ random }: Round): number => Math.floor(random() * preparations.length);
  return {
    operationOf,
    async rounds(rounds) {
      const [first] = rounds.map(operationOf);
      const prepare = preparations[first ?? 0];
      if (first === undefined || !prepare) throw new Error('no operation');
      world.cpus = (rounds[0]?.number ?? 0) % PARALLEL_EVERY === 0 ? 2 : 1;
      let left: string | null = null;
      if (!counts.has(first)) {
        const { run, state } = await prepare(left);
        proxy.arm('refused');
        await run();
        counts.set(first, proxy.disarm().statements);
        left = await state();
      }
      for (const round of rounds) {
        const kind = kills ? round.oneOf(KILLED) : round.oneOf(FAULTS);
        for (let isDone = false; !isDone; ) {
          const count = counts.get(first) ?? 0;
          const end = await fault(await prepare(left), { round, kind, count });
          left = end.left;
          isDone = end.missed === null;
          if (end.missed !== null) counts.set(first, Math.min(end.missed, count - 1));
        }
      }
      const next = await prepare(left);
      const at = `${next.name}, the next run after ${rounds.map(({ number }) => number)}`;
      const error = await inProcess(next);
      expect(error?.text, at).toBeUndefined();
      const { wanted } = next;
      const reached = await next.state();
      if (wanted !== null)
        expect(reached === wanted, `${at}: another state\n${difference(wanted, reached)}`).toBe(true);
      await expectSource(at);
      await expectDump(next, at);
      const shadows = (await watch.databases()).filter((one) => one.includes('.tool-new-'));
      expect(shadows, `${at}: databases are left over`).toEqual([]);
      if (server.kind !== 'postgres') expect(await watch.column(DROPPED), `${at}: half a branch is left`).toEqual([]);
      expect(await watch.column(TEMPORARY[server.kind]), `${at}: temporary roles are left over`).toEqual([]);
    },
    async [Symbol.asyncDispose]() {
      await watch[Symbol.asyncDispose]();
      await proxy.stop();
    },
  };
}

function isKilled(kind: Fault | Killed): kind is Killed {
  return !FAULTS.some((fault) => fault === kind);
}

function said(thrown: unknown): Said {
  const { code, message, details, hint } = toUserError(thrown);
  return { code, text: [message, ...details, hint].join('\n') };
}

/** Lines of one state that the other one lacks. */
function difference(expected: string, found: string): string {
  const [before, after] = [expected.split('\n'), found.split('\n')];
  const missing = before.filter((line) => !after.includes(line)).map((line) => `- ${line}`);
  const added = after.filter((line) => !before.includes(line)).map((line) => `+ ${line}`);
  return [...missing, ...added].join('\n').slice(0, 3000);
}

/** The semicolon after a body that the packet of a swap has created stays in MySQL until the run ends; a mark has a time. */
function withoutMark(dump: string): string {
  const text = dump.replaceAll('\n; ', ' ').replaceAll(/\n;$/gm, ' ');
  return text
    .split(';\n')
    .filter((statement) => !statement.includes('`tool-mark`'))
    .join(';\n');
}

const USERS = "SELECT User FROM mysql.user WHERE User LIKE 'tool-%'";
const TEMPORARY: Record<ServerKind, string> = {
  postgres: "SELECT rolname FROM pg_roles WHERE rolname LIKE 'tool%'",
  mariadb: USERS,
  mysql: USERS,
};
