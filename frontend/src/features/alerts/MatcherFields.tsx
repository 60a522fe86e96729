import { Button, Group, TextInput } from '@mantine/core'
import type { Matcher } from '~/api/silences'
import { longest } from '~/ui/CheckedInput'
import { Choice } from '~/ui/Choice'
import { pageStyles } from '~/ui/Page'
import { LABELS } from './matcherWords'
import { strings } from './strings'

/** A matcher while it is typed; `id` identifies its row. */
export interface TypedMatcher extends Matcher {
  id: number
}

interface Props {
  matchers: TypedMatcher[]
  onChange: (matchers: TypedMatcher[]) => void
  wrong: (pointer: string) => string | undefined
  /** Allows no matcher at all: then everything matches. */
  optional?: boolean
}

const MOST = 20

/** Matchers of an incident; all must match. */
export function MatcherFields({ matchers, onChange, wrong, optional = false }: Props) {
  const patch = (id: number, changes: Partial<Matcher>) =>
    onChange(matchers.map((matcher) => (matcher.id === id ? { ...matcher, ...changes } : matcher)))
  return (
    <>
      {matchers.map(({ id, label, value, negate }, place) => (
        <div key={id} className={pageStyles.form}>
          <Choice
            aria-label={strings.labelNumber(place + 1)}
            value={label}
            onChange={(value) => patch(id, { label: value })}
            data={LABELS}
            w={140}
          />
          <Choice
            aria-label={strings.comparisonNumber(place + 1)}
            value={negate ? 'not' : 'is'}
            onChange={(value) => patch(id, { negate: value === 'not' })}
            data={{ is: strings.is, not: strings.isNot }}
            w={100}
          />
          <TextInput
            aria-label={strings.valueNumber(place + 1)}
            placeholder={strings.matcherValueHint}
            required
            {...longest(200)}
            value={value}
            onChange={(event) => patch(id, { value: event.currentTarget.value })}
            error={wrong(`matchers/${place}/value`)}
            w={260}
          />
          {(optional || matchers.length > 1) && (
            <Button
              variant="subtle"
              size="sm"
              aria-label={strings.removeMatcher(place + 1)}
              onClick={() => onChange(matchers.filter((matcher) => matcher.id !== id))}
            >
              {strings.remove}
            </Button>
          )}
        </div>
      ))}
      {matchers.length < MOST && (
        <Group>
          <Button
            variant="subtle"
            size="compact-sm"
            onClick={() =>
              onChange([
                ...matchers,
                {
                  id: Math.max(-1, ...matchers.map((matcher) => matcher.id)) + 1,
                  label: 'vm',
                  value: '',
                  negate: false,
                },
              ])
            }
          >
            {matchers.length === 0 ? strings.addFirstMatcher : strings.addAnotherMatcher}
          </Button>
        </Group>
      )}
    </>
  )
}
