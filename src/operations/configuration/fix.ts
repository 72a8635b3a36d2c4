import { chmod, mkdir } from 'node:fs/promises';
import { readAwsProfiles } from '../../config/aws-profiles.ts';
import type { FileRequest } from '../../config/config-file.ts';
import type { Change } from '../../config/edit/change.ts';
import { changeText } from '../../config/edit/change-text.ts';
import { type DiffLine, diffLines } from '../../config/edit/diff-lines.ts';
import { fixFor } from '../../config/keys/fixes.ts';
import type { CheckReport, Problem } from '../../results/configuration/configuration-results.ts';
import { EXIT, UserError } from '../../runtime/errors.ts';
import { shell } from '../../text/shell-word.ts';
import { type CheckRequest, check } from './check/check.ts';
import { type ConfigurationDraft, openDraft, saveText } from './edit-configuration.ts';
import { encryptSecrets } from './secrets.ts';

export interface CheckWithFixes {
  report: CheckReport;
  /** Fixes of the problems, in their order; `null` where only a person can fix one. */
  fixes: (Fix | null)[];
  /** Encrypts the secrets that stand in the file in plain. */
  encrypt: Fix | null;
  makeFolder: Fix | null;
}

/** Something that can be done about a finding. */
export interface Fix {
  /** In a few words. */
  does: string;
  means: { kind: 'change'; changes: Change[] } | { kind: 'encrypt' } | Act;
}

type Act = { kind: 'protect'; file: string } | { kind: 'make_folder'; folder: string };

/** Plan of a fix: the new text of the file, or a description of another change. */
export interface FixPlan {
  does: string;
  change:
    | { kind: 'text'; file: string; base: string; text: string; diff: DiffLine[] }
    | { kind: 'said'; lines: string[]; act: Act };
}

export async function checkWithFixes(request: CheckRequest): Promise<CheckWithFixes> {
  const { report } = await check(request);
  const { problems, plain_secrets, working_directory } = report;
  const draft = await openDraft(request).catch(ifInvalid);
  const cliProfiles = [...(await readAwsProfiles(request.environment)).keys()];
  const fixOf = (problem: Problem): Fix | null => {
    if (problem.code === 'file_readable_by_others' && problem.file !== null) {
      return { does: 'Restrict the file to its owner', means: { kind: 'protect', file: problem.file } };
    }
    const found = draft && fixFor(problem, { ...draft, cliProfiles });
    return found && { does: found.does, means: { kind: 'change', changes: found.changes } };
  };
  const encrypt: Fix = { does: 'Encrypt them in place', means: { kind: 'encrypt' } };
  return {
    report,
    fixes: problems.map(fixOf),
    encrypt: plain_secrets.length === 0 ? null : encrypt,
    makeFolder:
      working_directory?.ok === null
        ? { does: 'Create the folder', means: { kind: 'make_folder', folder: working_directory.path } }
        : null,
  };
}

export async function planConfigurationFix(request: FileRequest, { does, means }: Fix): Promise<FixPlan> {
  switch (means.kind) {
    case 'protect':
      return { does, change: { kind: 'said', lines: [shell`chmod 600 ${means.file}`], act: means } };
    case 'make_folder': {
      const lines = [`mkdir -p ${means.folder}`, 'Only you can access it.'];
      return { does, change: { kind: 'said', lines, act: means } };
    }
    case 'change':
    case 'encrypt': {
      const draft = await openDraft(request);
      const { file, base } = draft;
      const text = means.kind === 'encrypt' ? encrypted(draft) : means.changes.reduce(changeText, base);
      return { does, change: { kind: 'text', file, base, text, diff: diffLines(base, text) } };
    }
    default:
      return means satisfies never;
  }
}

/** Does what was planned; later changes of the file by others are not overwritten. */
export async function applyConfigurationFix(request: FileRequest, { change }: FixPlan): Promise<void> {
  if (change.kind === 'text') return saveText(change, request);
  const { act } = change;
  if (act.kind === 'protect') await chmod(act.file, 0o600).catch(notMended);
  else await mkdir(act.folder, { recursive: true, mode: 0o700 }).catch(notMended);
}

/** Returns `null` for an invalid configuration: it has no values to fix. Throws other errors. */
function ifInvalid(thrown: unknown): null {
  if (thrown instanceof UserError && thrown.exit === EXIT.configuration) return null;
  throw thrown;
}

function encrypted({ base, secretKey }: ConfigurationDraft): string {
  return secretKey === null ? base : encryptSecrets(base, secretKey);
}

function notMended(cause: Error): never {
  throw new UserError('not_mended', `Nothing was changed: ${cause.message}`, { cause });
}
