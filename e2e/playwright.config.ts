import { defineConfig } from '@playwright/test'

// A trace costs a tenth of a journey's time. Processes of Playwright read this file without its arguments.
if (process.argv.includes('--last-failed')) process.env.SINEMORA_E2E_TRACE = 'on'

const browser = (...args: string[]) => ({
  // Date fields are written in the browser's own language.
  env: { ...(process.env as Record<string, string>), LANGUAGE: 'en_US' },
  executablePath: process.env.SINEMORA_CHROMIUM ?? '/usr/bin/chromium',
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    ...args,
  ],
})

/**
 * Journeys walk through the running product. It is the one at SINEMORA_E2E_URL, signed in to with SINEMORA_E2E_EMAIL
 * and SINEMORA_E2E_PASSWORD; without these, a product is started on a free port and stopped afterwards.
 *
 * Pages need no product: they show recorded responses. `record` renews that recording, and runs only with SINEMORA_RECORD=1.
 * `bench` measures the console of a large product: `make bench-ui`.
 */
export default defineConfig({
  outputDir: 'results',
  globalSetup: './support/product.ts',
  workers: 2,
  timeout: 300_000,
  expect: {
    timeout: 30_000,
    // Other machines smooth letters differently; a button without its colour exceeds this share of a page.
    toHaveScreenshot: { maxDiffPixelRatio: 0.003, threshold: 0.2 },
  },
  snapshotPathTemplate: 'screenshots/{arg}{ext}',
  forbidOnly: true,
  reporter: 'list',
  use: {
    // No motion: on a busy machine a click misses a button of a dialog that slides in.
    contextOptions: { reducedMotion: 'reduce' },
    screenshot: 'only-on-failure',
    // The page before and after each step, when a failed test is run again; a failed test has a screenshot anyway.
    trace: process.env.SINEMORA_E2E_TRACE ? { mode: 'retain-on-failure', screenshots: false } : 'off',
    launchOptions: browser(),
  },
  projects: [
    {
      name: 'journeys',
      testDir: 'journeys',
      // The journeys share agents and a product, so they run one after the other.
      workers: 1,
      use: { viewport: { width: 1440, height: 900 } },
    },
    {
      name: 'pages',
      testDir: 'pages',
      fullyParallel: true,
      use: {
        viewport: { width: 1280, height: 800 },
        deviceScaleFactor: 1,
        locale: 'en-GB',
        timezoneId: 'UTC',
        launchOptions: browser(
          '--force-color-profile=srgb',
          '--font-render-hinting=none',
          '--disable-lcd-text',
          '--hide-scrollbars',
        ),
      },
    },
    ...(process.env.SINEMORA_RECORD
      ? [
          {
            name: 'record',
            testDir: 'recording',
            workers: 1,
            use: { viewport: { width: 1280, height: 800 }, locale: 'en-GB', timezoneId: 'UTC' },
          },
        ]
      : []),
    ...(process.env.SINEMORA_BENCH_FILE
      ? [
          {
            name: 'bench',
            testDir: 'bench',
            workers: 1,
            use: { viewport: { width: 1440, height: 900 } },
          },
        ]
      : []),
  ],
})
