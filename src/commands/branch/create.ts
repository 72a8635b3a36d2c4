import type { CommandModule, CommandSpec, InvocationOf, Outcome } from '../../cli/command.ts';
import { runPlanned } from '../../cli/run-planned.ts';
import { EXIT, UserError } from '../../runtime/errors.ts';
import { DRY_RUN, TARGET, UNVERIFIED_SOURCES } from '../shared-options.ts';
import { BRANCH, DESTDB } from './shared-options.ts';

const specification = {
  name: 'branch create',
  summary: 'create a separate database from the base copy of a target, and print its URL',
  group: 'Branches',
  arguments: [TARGET, BRANCH],
  options: [
    { flags: '--count <n>', description: 'create NAME_1 to NAME_n, several at once', value: 'count' },
    { flags: '--reuse', description: 'leave branches that exist as they are' },
    { flags: '--env', description: 'print DATABASE_URL=URL with the password, for a shell or an .env file' },
    DESTDB,
    DRY_RUN,
    UNVERIFIED_SOURCES,
  ],
  examples: [
    { command: 'tool branch create app login-form', does: 'a database of its own for a piece of work' },
    { command: 'tool branch create app test --count 8', does: 'test_1 to test_8, one for each test worker' },
    { command: 'tool branch create app ci --reuse --env', does: 'its URL for the .env file of the application' },
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
    exit: EXIT.usage,
    hint: 'Leave out one of them.',
  });
}
