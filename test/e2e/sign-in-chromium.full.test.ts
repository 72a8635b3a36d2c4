import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { build } from '../../.ci/build.mjs';
import { PROGRAM } from '../helpers/program.ts';
import { hasChromium, startChromium } from '../helpers/sign-in/chromium.ts';
import { noteTakingBrowser } from '../helpers/sign-in/note-taking-browser.ts';
import { signInWorld } from '../helpers/sign-in/signed-in.ts';

describe.skipIf(!hasChromium)(`a real browser${hasChromium ? '' : ' (needs chromium)'}`, () => {
  beforeAll(() => build());

  it('follows the pages of the provider, and ends with the message that the person is signed in', async () => {
    const world = await signInWorld();
    await using chromium = await startChromium();
    const browser = await noteTakingBrowser(world);
    const login = promisify(execFile)(process.execPath, [PROGRAM, 'auth', 'login'], {
      cwd: world.folder,
      env: browser.environment,
    });
    await browser.url();
    await chromium.go(await browser.visited());
    const says = (words: string) =>
      expect
        .poll(() => chromium.evaluate('document.readyState === "complete" && document.body?.innerText'), {
          timeout: 20_000,
        })
        .toMatch(new RegExp(words, 'i'));
    await says('sign-in');
    await chromium.evaluate(`
      document.querySelector('[name=login]').value = 'ann';
      document.querySelector('[name=password]').value = 'any';
      document.querySelector('form').submit()`);
    await says('authorize');
    await chromium.evaluate(`document.querySelector('form').submit()`);
    await says('You are signed in');
    expect((await login).stdout).toContain('ann@example.com');
    expect(await world.text()).toContain('refresh_token: $aes$');
  }, 120_000);
});
