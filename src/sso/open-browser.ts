/** How a browser is opened on this machine; `null` where there is no display, or nobody at it. */
export function browserOf(environment: NodeJS.ProcessEnv): ((url: string) => Promise<void>) | null {
  const { DISPLAY, WAYLAND_DISPLAY, BROWSER, SSH_CONNECTION } = environment;
  const isRemote = Boolean(SSH_CONNECTION) && !BROWSER && !DISPLAY;
  const hasDisplay = process.platform !== 'linux' || Boolean(DISPLAY || WAYLAND_DISPLAY || BROWSER);
  return hasDisplay && !isRemote ? openBrowser : null;
}

/** One that cannot be opened is no failure: the URL is there to be opened by hand. */
async function openBrowser(url: string): Promise<void> {
  const { default: open } = await import('open');
  const child = await open(url).catch(() => null);
  child?.on('error', () => {});
}
