import { randomBytes } from 'node:crypto';
import type { FileRequest } from '../../config/config-file.ts';
import { assertNoConfiguration, briefConfiguration, initConfiguration } from '../../config/init/init.ts';
import { absolutePath, userConfigFile } from '../../config/paths.ts';
import { checkValues } from '../../config/problems/check-values.ts';
import { type SchemaConfig, settingsSchema } from '../../config/schema/settings.ts';
import { shapeOf } from '../../config/schema/shape.ts';
import { IN_KEYCHAIN } from '../../config/secrets/keychain.ts';
import { encryptText, replacePasswords, textsOf } from '../../config/secrets/sensitive-values.ts';
import { dotted, setValue, type Tree } from '../../config/tree.ts';
import { redact } from '../../process/redact.ts';
import type { StorageProfile } from '../../repository/s3/connection.ts';
import type { ErrorCode } from '../../runtime/error-codes.ts';
import { EXIT, UserError } from '../../runtime/errors.ts';
import { ignoreInGit, wouldBeCommitted } from './git-ignore.ts';

/** Content of a first configuration. */
export interface SetUp {
  /** Path of the file; empty for the user's own file. */
  file: string;
  target: string;
  /** With password, as typed; empty as long as nothing is known of it. */
  source: string;
  /** Empty for none. */
  destination: string;
  schemaConfig: SchemaConfig | null;
  /** Names of the environment variables that shall hold the passwords; `null`: they are encrypted in the file. */
  variables: { source: string; destination: string } | null;
  storage: StorageProfile | null;
  /** For a file that would be in the next commit. Default: it is written as everywhere else. */
  inGit?: InGit | undefined;
}

/** `ignore`: the file is added to `.gitignore`; `keychain`: its `secret_key` is in the system's keychain. */
export type InGit = 'ignore' | 'keychain';

/** A file that is ready to be written. */
export interface SetUpPlan {
  file: string;
  /** Every byte of it; never shown. */
  text: string;
  /** Text for people: the key hidden, encrypted values cut short. */
  shown: string;
  /** The environment variables that it needs, with the passwords as they stood in the URLs; only their names are shown. */
  variables: Record<string, string>;
  /** Git would add the file to the next commit. */
  committed: boolean;
  inGit: InGit | null;
  /** Never shown. */
  secretKey: string;
}

/** The name of the storage profile of a first configuration. */
const PROFILE = 'main';

/** The file as it will be written; refuses one that is there already, and values that the schema does not take. */
export async function planSetUp({ environment, cwd }: FileRequest, setUp: SetUp): Promise<SetUpPlan> {
  const file = setUp.file === '' ? userConfigFile(environment) : absolutePath(setUp.file, { from: cwd, environment });
  await assertNoConfiguration(file);
  const secretKey = randomBytes(16).toString('hex');
  const { tree, variables } = sectionsOf(setUp);
  assertValidSettings({ secret_key: secretKey, ...tree });
  for (const value of textsOf(tree, shapeOf(settingsSchema))) {
    const outcome = value.secret ? encryptText(value, secretKey) : {};
    if ('encrypted' in outcome) setValue(tree, value.path, outcome.encrypted);
  }
  const inGit = setUp.inGit ?? null;
  const text = briefConfiguration(inGit === 'keychain' ? IN_KEYCHAIN : secretKey, tree);
  const shown = text
    .replace(`secret_key: "${secretKey}"`, 'secret_key: "…"')
    .replaceAll(/(\$aes\$[0-9a-f]{4})[0-9a-f]+/g, '$1…');
  const committed = await wouldBeCommitted(environment, file);
  return { file, text, shown, variables, committed, inGit, secretKey };
}

/** Writes what was planned, whole or not at all, and never over a file that is there. */
export async function applySetUp(
  { environment, cwd }: FileRequest,
  { file, text, inGit, secretKey }: SetUpPlan,
): Promise<{ file: string }> {
  // Before the file is written, so that git never offers it.
  if (inGit === 'ignore') await ignoreInGit(file);
  const content = { text, secretKey };
  const request = { file, force: false, keychain: inGit === 'keychain', content };
  const written = await initConfiguration({ ...request, environment, cwd });
  return { file: written.file };
}

function sectionsOf({ target, source, destination, schemaConfig, variables: names, storage }: SetUp) {
  const variables: SetUpPlan['variables'] = {};
  const kept = (url: string, name: string | undefined): string =>
    name === undefined
      ? url
      : replacePasswords(url, (password) => {
          variables[name] = password;
          return `{{\`${name}\` | env}}`;
        });
  const tree: Tree = {
    ...(storage && { storage_profiles: { [PROFILE]: { ...storage } } }),
    targets: {
      [target]: {
        snapshot: {
          ...(source !== '' && { src_url: kept(source, names?.source) }),
          ...(destination !== '' && { dst_url: kept(destination, names?.destination) }),
          ...(schemaConfig && { schema_config: { ...schemaConfig } }),
        },
        ...(storage && { storage_profile: PROFILE }),
      },
    },
  };
  return { tree, variables };
}

function assertValidSettings(tree: Tree): void {
  const [problem] = checkValues(tree, shapeOf(settingsSchema)).problems;
  if (!problem) return;
  const { path, code, message, hint } = problem;
  const sentence = typeof message === 'string' ? message : `${dotted(path)} ${message.says}`;
  throw new UserError(code as ErrorCode, redact(sentence), { exit: EXIT.configuration, hint });
}
