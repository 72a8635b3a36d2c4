import { createDecipheriv } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/commands/registry.ts';
import { decrypt, encrypt } from '../../src/config/secrets/cipher.ts';
import { EXIT } from '../../src/errors.ts';
import { runWith } from '../helpers/cli-host.ts';
import { type ConfigFolder, configFolder, SECRET_KEY, summary, withKey } from '../helpers/config-folder.ts';

const OTHER_KEY = 'f'.repeat(32);

function tool({ path }: ConfigFolder, words: string[], environment: NodeJS.ProcessEnv = {}) {
  return runWith(['config', ...words], COMMANDS, { cwd: path, environment: { HOME: path, ...environment } });
}

describe('an encrypted value', () => {
  it('is nonce, ciphertext and tag of AES-256-GCM under the text of the key', () => {
    const sealed = Buffer.from(encrypt('hello', SECRET_KEY).slice('$aes$'.length), 'hex');
    const decipher = createDecipheriv('aes-256-gcm', Buffer.from(SECRET_KEY), sealed.subarray(0, 12));
    decipher.setAuthTag(sealed.subarray(-16));
    expect(`${decipher.update(sealed.subarray(12, -16))}${decipher.final()}`).toBe('hello');
  });

  it('that another program of this kind has written opens', () => {
    // Made with Python's cryptography: AESGCM(key).encrypt(nonce of twelve 0x07, b'pa$$ w\xc3\xb6rd', None).
    const foreign = '$aes$070707070707070707070707c4e3d3232fe587953fa800386893d41a613f78099c1f146f6088';
    expect(decrypt(foreign, SECRET_KEY)).toBe('pa$$ wörd');
    expect(decrypt(foreign.toUpperCase().replace('$AES$', '$aes$'), SECRET_KEY)).toBe('pa$$ wörd');
  });

  it('opens to what it was made of, and to nothing under another key or with any byte changed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(), (plain, at) => {
        const encrypted = encrypt(plain, SECRET_KEY);
        expect(decrypt(encrypted, SECRET_KEY)).toBe(plain);
        expect(decrypt(encrypted, OTHER_KEY)).toBeNull();
        const place = 5 + (at % (encrypted.length - 5));
        const digit = encrypted[place] === '0' ? '1' : '0';
        expect(decrypt(encrypted.slice(0, place) + digit + encrypted.slice(place + 1), SECRET_KEY)).toBeNull();
      }),
      { numRuns: 200 },
    );
  });

  it('is accepted in any text, in a URL, in a list and in a variable', async () => {
    const hidden = (plain: string) => encrypt(plain, SECRET_KEY);
    const folder = await configFolder({
      'tool.yml': withKey(`authtoken: ${hidden('token')}
storage_profiles:
  team: { provider: s3, region: eu, bucket: b, access_key: a, secret_key: "${hidden('s3cret')}" }
targets:
  app:
    name: ${hidden('The app')}
    sso_groups: [dev, "${hidden('ops')}"]
    snapshot:
      src_url: postgres://app:${hidden('p@ss:w/rd')}@db/app
      dst_url: ${hidden('postgres://me@localhost/copy')}
    sanitize:
      dst_url: "postgres://u:{{\`SECRET\` | env}}@h/s"
`),
    });
    const environment = { SECRET: hidden('a b'), TOOL_OVERRIDE__DST_DB_URL: `postgres://o:${hidden('ö')}@h/o` };
    const { settings } = await folder.load({ environment });
    expect(settings.authtoken).toBe('token');
    expect(settings.storage_profiles.team?.secret_key).toBe('s3cret');
    expect(settings.override.dst_db_url).toBe('postgres://o:%C3%B6@h/o');
    expect(settings.targets.app).toMatchObject({
      name: 'The app',
      sso_groups: ['dev', 'ops'],
      snapshot: { src_url: 'postgres://app:p%40ss%3Aw%2Frd@db/app', dst_url: 'postgres://me@localhost/copy' },
      sanitize: { dst_url: 'postgres://u:a%20b@h/s' },
    });
  });

  it('of another key, or damaged, is an error at its place that does not repeat it', async () => {
    const folder = await configFolder({
      'tool.yml': withKey(`authtoken: ${encrypt('t', OTHER_KEY)}
targets:
  app: { snapshot: { src_url: "postgres://u:$aes$00ff@h/d" } }
`),
    });
    const { problems } = await folder.inspect();
    expect(summary(problems)).toEqual([
      '2:12 secret_not_opened authtoken cannot be decrypted with this secret_key',
      '4:31 secret_not_opened targets.app.snapshot.src_url cannot be decrypted with this secret_key',
    ]);
    expect(JSON.stringify(problems)).not.toMatch(/[0-9a-f]{4}/);
  });

  it('is not told apart when the key itself is wrong: that is told once', async () => {
    const folder = await configFolder({
      'tool.yml': `secret_key: short\nauthtoken: ${encrypt('t', SECRET_KEY)}\n`,
    });
    expect((await folder.inspect()).problems.map(({ code }) => code)).toEqual(['wrong_value']);
  });

  it('is not shown by what is wrong with it', async () => {
    const folder = await configFolder({
      'tool.yml': withKey(
        `env: ${encrypt('sesame', SECRET_KEY)}\ntargets: { a: { storage_profile: "${encrypt('sesame', SECRET_KEY)}" } }\n`,
      ),
    });
    const { problems } = await folder.inspect();
    expect(problems.filter(({ severity }) => severity === 'error')).toHaveLength(2);
    expect(JSON.stringify(problems)).not.toContain('sesame');
  });
});

describe('config encrypt', () => {
  const PLAIN = withKey(`# the cloud
authtoken: "token"  # from the web
targets:
  app:
    snapshot:
      src_url: 'postgres://app:it%27s@db/app' # production
      dst_url: "postgres://me:{{\`PW\` | env}}@localhost/copy"
`);

  it('encrypts all that is plain and sensitive where it stands, and load reads it as before', async () => {
    const folder = await configFolder({ 'tool.yml': PLAIN });
    const before = (await folder.load({ environment: { PW: 'x' } })).settings;
    const { exit, stdout } = await tool(folder, ['encrypt']);
    expect({ exit, stdout }).toEqual({
      exit: EXIT.done,
      stdout:
        'Encrypted authtoken\nEncrypted targets.app.snapshot.src_url\nLeft targets.app.snapshot.dst_url as it is: nothing in it is plain\n',
    });
    const text = await readFile(join(folder.path, 'tool.yml'), 'utf8');
    expect(text.replace(/\$aes\$[0-9a-f]+/g, '$aes$')).toBe(
      PLAIN.replace('"token"', '"$aes$"').replace('it%27s', '$aes$'),
    );
    const after = (await folder.load({ environment: { PW: 'x' } })).settings;
    expect({ ...after, targets: null }).toEqual({ ...before, targets: null });
    expect(after.targets.app?.snapshot?.src_url).toBe("postgres://app:it's@db/app");
    expect((await tool(folder, ['encrypt'])).stdout).toBe(
      'Left targets.app.snapshot.src_url as it is: nothing in it is plain\nLeft targets.app.snapshot.dst_url as it is: nothing in it is plain\n',
    );
  });

  it('encrypts what it is told, and with --dry-run nothing', async () => {
    const folder = await configFolder({ 'tool.yml': PLAIN });
    const dry = await tool(folder, ['encrypt', 'authtoken', '--dry-run', '--json']);
    expect(JSON.parse(dry.stdout)).toEqual({
      file: join(folder.path, 'tool.yml'),
      encrypted: ['authtoken'],
      skipped: [],
    });
    expect(await readFile(join(folder.path, 'tool.yml'), 'utf8')).toBe(PLAIN);
    await tool(folder, ['encrypt', 'authtoken']);
    expect((await tool(folder, ['decrypt', 'authtoken'])).stdout).toBe('token\n');
    expect(JSON.parse((await tool(folder, ['decrypt', 'authtoken', '--json'])).stdout)).toEqual({
      key: 'authtoken',
      value: 'token',
    });
  });

  it.for([
    { key: 'authtokn', says: 'The configuration has no text at authtokn', hint: 'Did you mean authtoken?' },
    { key: 'secret_key', says: 'secret_key opens all the others', hint: '--keychain' },
  ])('refuses $key with 2', async ({ key, says, hint }) => {
    const folder = await configFolder({ 'tool.yml': PLAIN });
    const { exit, stderr } = await tool(folder, ['encrypt', key]);
    expect(exit).toBe(EXIT.usage);
    expect(stderr).toContain(says);
    expect(stderr).toContain(hint);
  });

  it('works with a key from the environment, and says when there is none', async () => {
    const folder = await configFolder({ 'tool.yml': 'authtoken: token\n' });
    expect((await tool(folder, ['encrypt'])).exit).toBe(EXIT.configuration);
    expect(await tool(folder, ['encrypt'], { TOOL_SECRET_KEY: SECRET_KEY })).toMatchObject({ exit: EXIT.done });
    const written = await readFile(join(folder.path, 'tool.yml'), 'utf8');
    expect(decrypt(written.trim().split(' ')[1] ?? '', SECRET_KEY)).toBe('token');
  });
});
