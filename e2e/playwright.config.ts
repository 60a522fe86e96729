import { defineConfig } from '@playwright/test'

/**
 * Journeys through the running product. It is the one at SINEMORA_E2E_URL, signed in to with SINEMORA_E2E_EMAIL and
 * SINEMORA_E2E_PASSWORD; without these, one of their own is started on a free port and stopped afterwards.
 */
export default defineConfig({
  testDir: 'journeys',
  outputDir: 'results',
  globalSetup: './support/product.ts',
  // Real agents, real packets and one product: the journeys take turns.
  workers: 1,
  timeout: 300_000,
  expect: { timeout: 30_000 },
  forbidOnly: true,
  reporter: 'list',
  use: {
    viewport: { width: 1440, height: 900 },
    // Nothing moves: on a busy machine a button of a dialog that slides in is missed by the click that is aimed at it.
    contextOptions: { reducedMotion: 'reduce' },
    screenshot: 'only-on-failure',
    trace: 'retain-on-failure',
    launchOptions: {
      executablePath: process.env.SINEMORA_CHROMIUM ?? '/usr/bin/chromium',
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    },
  },
})
