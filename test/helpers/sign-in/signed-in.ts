import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunEvent } from '../../../src/results/events.ts';
import { type Context, openContext } from '../../../src/runtime/context.ts';
import { configFolder, SECRET_KEY } from '../terminal/config-folder.ts';
import { type IdentityProvider, type ProviderOptions, startIdentityProvider } from './identity-provider.ts';

/** A configuration with a real identity provider, and a person at the browser. */
export interface SignInWorld {
  provider: IdentityProvider;
  folder: string;
  file: string;
  events: RunEvent[];
  /** A context of the file as it is now; `later` moves its clock by seconds. */
  open(later?: number, variables?: NodeJS.ProcessEnv): Promise<Context>;
  text(): Promise<string>;
  /** Makes the session one that ends in seconds. */
  nearItsEnd(): Promise<void>;
  /** Who sits at the browser. */
  person: string;
}

export async function signInWorld(more = '', options: ProviderOptions = {}): Promise<SignInWorld> {
  const provider = await startIdentityProvider({ deviceFlow: false, ...options });
  const { provider_url, client_id, redirect_url } = provider.settings;
  const text = `# the head
secret_key: "${SECRET_KEY}" # mine
working_directory: ./work
sso:
  # our provider
  idp:
    provider_url: ${provider_url}
    client_id: ${client_id} # as registered
    redirect_url: ${redirect_url}
${more}`;
  const { path } = await configFolder({ 'tool.yml': text });
  const file = join(path, 'tool.yml');
  await writeFile(file, text, { mode: 0o644 });
  const events: RunEvent[] = [];
  const world: SignInWorld = {
    provider,
    folder: path,
    file,
    events,
    person: 'ann',
    open: (later = 0, variables = {}) =>
      openContext({
        environment: { TOOL_TRUST: 'true', HOME: path, ...variables },
        cwd: path,
        signal: new AbortController().signal,
        clock: () => new Date(Date.now() + later * 1000),
        report(event) {
          events.push(event);
          if (event.event === 'sign_in') void provider.signIn(event.url, world.person);
        },
      }),
    nearItsEnd: async () => {
      const soon = Math.floor(Date.now() / 1000) + 10;
      await writeFile(file, (await world.text()).replace(/expires: \d+/, `expires: ${soon}`));
    },
    text: () => readFile(file, 'utf8'),
  };
  return world;
}
