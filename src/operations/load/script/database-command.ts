import type { DatabaseUrl } from '../../../engines/database-url.ts';
import { engineOf } from '../../../engines/registry.ts';
import { redact } from '../../../process/redact.ts';
import type { Context } from '../../../runtime/context.ts';

/** Leaves out variables of the tool, and those that lead a client of the database elsewhere. */
export function commandEnvironment({ environment }: Context, url: DatabaseUrl): NodeJS.ProcessEnv {
  const { urlWithPassword, urlVariables } = engineOf(url.engine);
  const passed = Object.entries(environment).filter(([name]) => !/^TOOL_|^PG(?:SERVICE|HOSTADDR)$/.test(name));
  return { ...Object.fromEntries(passed), ...urlVariables(url), DATABASE_URL: urlWithPassword(url) };
}

/** Shorter, a password would hide letters of other words. */
const SHORTEST_PASSWORD = 3;

/** A command has the password, and may print it in any form. */
export function hiddenOutput({ hide = (text) => text }: Context, { password }: DatabaseUrl, output: string): string {
  const masked =
    password !== null && password.length >= SHORTEST_PASSWORD ? [password, encodeURIComponent(password)] : [];
  return redact(hide(masked.reduce((text, secret) => text.replaceAll(secret, '***'), output)));
}
