/** How a browser is opened on this machine; `null` where there is no display, or nobody at it. */
export function browserOf(environment: NodeJS.ProcessEnv): ((url: string) => Promise<void>) | null {
  const { DISPLAY, WAYLAND_DISPLAY, BROWSER, SSH_CONNECTION } = environment;
  // Several may be named; the first is what is wanted.
  const named = BROWSER?.split(':').find((name) => name !== '' && !name.includes('%'));
  if (named !== undefined) return (url) => openBrowser(url, named);
  const hasDisplay = process.platform !== 'linux' || Boolean(DISPLAY || WAYLAND_DISPLAY);
  const isElsewhere = Boolean(SSH_CONNECTION) && !DISPLAY && !WAYLAND_DISPLAY;
  return hasDisplay && !isElsewhere ? openBrowser : null;
}

/** One that cannot be opened is no failure: the URL is there to be opened by hand. */
async function openBrowser(url: string, named?: string): Promise<void> {
  const { default: open } = await import('open');
  const child = await open(url, named === undefined ? {} : { app: { name: named } }).catch(() => null);
  child?.on('error', () => {});
}
