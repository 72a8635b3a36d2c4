import type { ArgumentSpec, CommandSpec } from '../cli/command.ts';

const PROVIDER: ArgumentSpec = {
  name: 'provider',
  description: 'an identity provider of the configuration, below sso; needed where there are several',
  required: false,
};

const GROUP = 'Sign in';

/** Single sign-on, and the cloud token. */
export const AUTH_COMMANDS: CommandSpec[] = [
  {
    name: 'auth login',
    summary: 'sign in with an identity provider, in the browser',
    group: GROUP,
    arguments: [PROVIDER],
    options: [{ flags: '--device', description: 'by a code, in a browser of any machine' }],
    examples: [
      { command: 'tool auth login', does: 'opens the browser, and prints the URL' },
      { command: 'tool auth login idp --device', does: 'prints a URL and a code for a browser elsewhere' },
    ],
    json: 'events',
    load: () => import('./auth/login.ts'),
  },
  {
    name: 'auth status',
    summary: 'who is signed in, with which groups, until when',
    group: GROUP,
    arguments: [],
    options: [],
    examples: [{ command: 'tool auth status --json', does: 'the same, for scripts' }],
    json: 'document',
    load: () => import('./auth/status.ts'),
  },
  {
    name: 'auth logout',
    summary: 'remove the sign-in, and revoke its tokens where the provider offers it',
    group: GROUP,
    arguments: [{ ...PROVIDER, description: 'an identity provider of the configuration; default all' }],
    options: [],
    examples: [{ command: 'tool auth logout', does: 'signs out everywhere' }],
    json: 'document',
    load: () => import('./auth/logout.ts'),
  },
  {
    name: 'auth token',
    summary: 'keep the cloud token in the configuration file, encrypted',
    group: GROUP,
    arguments: [
      {
        name: 'token',
        description: 'the token, or - to read it from standard input, where neither history nor process list show it',
        required: true,
      },
    ],
    options: [],
    examples: [{ command: 'tool auth token -', does: 'reads it from standard input, and encrypts it into authtoken' }],
    json: 'document',
    load: () => import('./auth/token.ts'),
  },
];
