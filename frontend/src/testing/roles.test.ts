/** Whoever may only read sees no action that the API refuses: checked over all components that call one. */

import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { CONTRACT } from './recorded'

const SOURCE = join(__dirname, '..')

/** Components that are reached by an action for editors, or whose page tells viewers that they cannot use it. */
const BEHIND_AN_ACTION = new Map([
  ['features/applications/NewApplicationPage.tsx', 'opened by “Add application”'],
  ['features/curves/NewCurvePage.tsx', 'opened by “Add measurements”'],
  ['features/curves/NewVersionPage.tsx', 'opened by “New version”'],
  ['features/onboarding/InviteStep.tsx', 'the page says that viewers cannot add VMs'],
  ['features/onboarding/MeshStep.tsx', 'the page says that viewers cannot add VMs'],
  ['features/shell/embed/EmbedLinks.tsx', 'its dialog opens from an action for editors'],
  ['features/members/Invitations.tsx', 'its page asks for the role'],
  ['features/members/MemberMeshes.tsx', 'its page asks for the role'],
  ['features/members/MembersPage.tsx', 'it asks for the role'],
  ['features/account/PolicyPanel.tsx', 'its page asks for the role'],
])

const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name) && !name.includes('.test.') && !name.includes('.gen.'))
  .map((name) => ({ name, text: readFileSync(join(SOURCE, name), 'utf8') }))

/** Return the method of a call such as `remove` or `client.POST`, as the contract writes it. */
const methodOf = (call: string) => call.toLowerCase().replace('client.', '').replace('remove', 'delete')

/** Hooks of `api/` that call an operation which viewers are refused. */
function editingHooks(): string[] {
  const { paths } = CONTRACT
  const hooks = files
    .filter(({ name }) => name.startsWith('api/'))
    .flatMap(({ text }) => text.split(/^export /m).slice(1))
    .map((text) => text.split('\n\n')[0] ?? '')
    .flatMap((text) => {
      const name = /^(?:const|function) (use\w+)/.exec(text)?.[1]
      const calls = [...text.matchAll(/\b(post|put|patch|remove|client\.(?:POST|PUT|PATCH|DELETE))\(\s*'([^']+)'/g)]
      const roles = calls.map(([, call = '', path = '']) => paths[path]?.[methodOf(call)]?.['x-required-role'])
      return name && roles.includes('editor') && !asks(text) ? [name] : []
    })
  expect(hooks.length).toBeGreaterThan(30)
  return hooks
}

const asks = (text: string) => /\buseEdits\(|<EditorsOnly/.test(text)

test('every action that viewers are refused is shown to editors only', () => {
  const called = new RegExp(`\\b(${editingHooks().join('|')})\\(`)
  const shown = files
    .filter(({ name, text }) => name.startsWith('features/') && called.test(text) && !asks(text))
    .filter(({ name }) => !BEHIND_AN_ACTION.has(name))
    .filter(({ name }) => {
      const component = basename(name, '.tsx')
      const users = files.filter(
        (other) => other.name !== name && new RegExp(`/${component}'`).test(other.text) && usesTheSame(other, name),
      )
      return users.length === 0 || !users.every(({ text }) => asks(text))
    })
    .map(({ name }) => name)
  expect(shown).toEqual([])
})

/** Return whether a file imports that component, and not another one of its name. */
function usesTheSame(file: { name: string; text: string }, name: string) {
  const near = relative(dirname(file.name), name.replace(/\.tsx$/, ''))
  const here = near.startsWith('.') ? near : `./${near}`
  return file.text.includes(`'${here}'`) || file.text.includes(`'~/${name.replace(/\.tsx$/, '')}'`)
}
