import { Button, Group, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useMemo, useState } from 'react'
import { useEdits } from '~/api/access'
import { type Rule, ruleQuery, useChangeRule, useCreateRule } from '~/api/rules'
import { changedFields } from '~/lib/edited'
import { Problem } from '~/lib/problem'
import { ChangedMeanwhile } from '~/ui/ChangedMeanwhile'
import { longest } from '~/ui/CheckedInput'
import { Choice } from '~/ui/Choice'
import { Page, Panel, pageStyles } from '~/ui/Page'
import { PendingPage } from '~/ui/PendingPage'
import { Failed } from '~/ui/State'
import { SEVERITIES } from '~/ui/severity'
import { useEdited } from '~/ui/useEdited'
import { strings } from '../strings'
import { BackTest } from './BackTest'
import { ConditionFields } from './ConditionFields'
import { type Draft, draftOf, inputOf, NAME_MAX, NEW_RULE, type PartProps } from './draft'
import { EvaluationFields } from './EvaluationFields'
import { RulePreview } from './RulePreview'
import styles from './rulePreview.module.css'
import { conditionWords, ruleLines, scopeWords } from './ruleWords'
import { ScopeFields } from './ScopeFields'

/** An existing rule, to read or edit. */
export function RulePage({ ruleId }: { ruleId: string }) {
  const rule = useQuery(ruleQuery(ruleId))
  if (rule.error && !rule.data) {
    return <Failed what={strings.theRule} error={rule.error} retry={() => void rule.refetch()} />
  }
  if (!rule.data) return <PendingPage />
  return <RuleEditor key={ruleId} meshId={rule.data.mesh_id} rule={rule.data} />
}

interface Props {
  meshId: string
  rule?: Rule
  /** Initial values of a new rule. Its first field has the focus, so that Enter sends the form. */
  initial?: Draft | undefined
}

/** The form of a rule; empty for a new one. */
export function RuleEditor({ meshId, rule, initial }: Props) {
  const navigate = useNavigate()
  const edits = useEdits()
  const create = useCreateRule(meshId)
  const change = useChangeRule()
  const edited = useEdited(
    useMemo(() => (rule ? draftOf(rule) : (initial ?? NEW_RULE)), [rule, initial]),
    String(rule?.version ?? ''),
    ruleLines,
  )
  const [draft, setDraft] = useState(edited.initial)
  const saving = rule ? change : create
  const part: PartProps = {
    draft,
    patch: (changes) => setDraft((old) => ({ ...old, ...changes })),
    wrong: (pointer) => (saving.error instanceof Problem ? saving.error.field(pointer) : undefined),
  }
  const input = inputOf(draft)
  const onSuccess = () => void navigate({ to: '/alert-rules', search: { mesh: meshId } })

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    if (!rule) return create.mutate(input, { onSuccess })
    const changes = changedFields(inputOf(edited.before), input)
    change.mutate({ rule: { id: rule.id, version: Number(edited.version) }, changes }, { onSuccess })
  }

  return (
    <Page
      title={rule ? rule.name : strings.newRule}
      lead={`${conditionWords(input.condition)}; ${scopeWords(input.scope ?? {}, input.condition.kind)}.`}
    >
      <div className={styles.editor}>
        <form onSubmit={submit} className={pageStyles.panelForm}>
          <Panel title={strings.rule}>
            <div className={pageStyles.form}>
              <TextInput
                label={strings.name}
                required
                {...longest(NAME_MAX)}
                autoFocus={initial !== undefined}
                value={draft.name}
                onChange={(event) => part.patch({ name: event.currentTarget.value })}
                error={part.wrong('name')}
                w={280}
              />
              <Choice
                label={strings.severity}
                value={draft.severity}
                onChange={(value) => part.patch({ severity: value as Draft['severity'] })}
                data={Object.entries(SEVERITIES).map(([value, { word }]) => ({ value, label: word }))}
              />
              <TextInput
                label={strings.runbook}
                type="url"
                placeholder={strings.urlExample}
                value={draft.runbookUrl}
                onChange={(event) => part.patch({ runbookUrl: event.currentTarget.value })}
                error={part.wrong('runbook_url')}
                w={280}
              />
            </div>
          </Panel>
          <ConditionFields {...part} />
          <ScopeFields {...part} meshId={meshId} />
          <EvaluationFields {...part} />
          <ChangedMeanwhile edited={edited} error={saving.error} typed={() => draft} onFilled={setDraft} />
          {edits && (
            <Group>
              <Button type="submit" loading={saving.isPending}>
                {rule ? strings.save : strings.createRule}
              </Button>
            </Group>
          )}
        </form>
        <div className={styles.trial}>
          {edits && <BackTest meshId={meshId} rule={input} />}
          <RulePreview meshId={meshId} rule={input} path={draft.path} />
        </div>
      </div>
    </Page>
  )
}
