import type { CommandModule, CommandSpec, InvocationOf, Outcome } from '../../cli/command.ts';
import { runPlanned } from '../../cli/run-planned.ts';
import { UserError } from '../../runtime/errors.ts';
import { DRY_RUN, TARGET, UNVERIFIED_SOURCES } from '../shared-options.ts';
import { BRANCH, DESTDB } from './shared-options.ts';

const specification = {
  name: 'branch create',
  summary: "create a database from a target's base copy, and print its URL",
  group: 'Branches',
  arguments: [TARGET, BRANCH],
  options: [
    { flags: '--count <n>', description: 'create NAME_1 to NAME_n', value: 'count' },
    { flags: '--reuse', description: 'keep existing branches' },
    { flags: '--env', description: 'print DATABASE_URL=URL with the password, for an .env file' },
    DESTDB,
    DRY_RUN,
    UNVERIFIED_SOURCES,
  ],
  examples: [
    { command: 'tool branch create app login-form', does: 'create a branch' },
    { command: 'tool branch create app test --count 8', does: 'create a branch per test worker' },
    { command: 'tool branch create app ci --reuse --env', does: 'print its URL for an .env file' },
  ],
  json: 'events',
  writes: true,
} as const satisfies CommandSpec;

export const branchCreateCommand: CommandModule = { ...specification, run };

async function run(invocation: InvocationOf<typeof specification>): Promise<Outcome> {
  const { branchCreateOperation } = await import('../../operations/branch/create/operation.ts');
  const { branchUrlLines } = await import('../../operations/branch/create/text.ts');
  const { dryRun, ...options } = invocation.options;
  if (options.env && invocation.globals.json) throw envIsText();
  const request = { ...invocation.arguments, ...options };
  const outcome = await runPlanned(invocation, branchCreateOperation, {
    request,
    text: branchUrlLines,
  });
  // Printing the passwords is what --env requests.
  return options.env && !dryRun ? { ...outcome, data: {}, verbatim: true } : outcome;
}

function envIsText(): UserError {
  return new UserError('--env prints variables, so --json is not for it', {
    code: 'usage',
    hint: 'Leave out one of them.',
  });
}
