import { Button, FileButton, MultiSelect, Textarea } from '@mantine/core'
import type { FormEvent } from 'react'
import { labelled } from '~/lib/options'
import type { Patch } from '~/lib/searchParams'
import { Choice } from '~/ui/Choice'
import { NumberField } from '~/ui/NumberField'
import { pageStyles } from '~/ui/Page'
import { Term } from '~/ui/Term'
import { useMissing } from '~/ui/useMissing'
import advisors from '../advisors.module.css'
import { BASELINES, FIGURES, FIRST, POLICIES, policiesOf, SPREADS, type TailSearch, WORKLOADS } from './question'
import { strings } from './strings'

interface Props {
  search: TailSearch
  onSearch: (patch: Patch<TailSearch>) => void
  sizes: string
  onSizes: (text: string) => void
  starting: boolean
  onStart: () => void
}

type NumberName = 'load' | 'link' | 'packet' | 'seed' | 'evaluations'
type OptionalName = 'flows' | 'alpha'

/** The question of a study; the address holds all of it but imported sizes. */
export function StudyForm({ search, onSearch, sizes, onSizes, starting, onStart }: Props) {
  const workload = search.workload ?? FIRST.workload
  const policies = policiesOf(search)
  const missing = useMissing({ sizes: workload === 'own' && sizes.trim() === '' ? strings.noSizes : null })
  const number = (field: NumberName, label: string, least: number, most: number, step: number | 'any' = 'any') => (
    <NumberField
      key={`${field} ${search[field]}`}
      label={label}
      defaultValue={search[field] ?? FIRST[field]}
      min={least}
      max={most}
      step={step}
      required
      withAsterisk={false}
      w={190}
      onBlur={({ currentTarget }) => {
        if (currentTarget.value !== '') onSearch({ [field]: Number(currentTarget.value) })
      }}
    />
  )
  const optional = (field: OptionalName, label: string, empty: string, least: number, most: number) => (
    <NumberField
      key={`${field} ${search[field]}`}
      label={label}
      placeholder={empty}
      defaultValue={search[field]}
      min={least}
      max={most}
      step={field === 'flows' ? 1 : 'any'}
      w={170}
      onBlur={({ currentTarget }) =>
        onSearch({ [field]: currentTarget.value === '' ? undefined : Number(currentTarget.value) })
      }
    />
  )
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    if (missing.isComplete) onStart()
  }
  return (
    <form onSubmit={submit}>
      <div className={pageStyles.form}>
        <Choice
          label={strings.workload}
          value={workload}
          data={labelled(strings.workloads, WORKLOADS)}
          onChange={(workload) => onSearch({ workload })}
        />
        {number('load', strings.load, 5, 95)}
        {number('link', strings.link, 1, 400_000)}
        <Choice
          label={<Term of="tail mean">{strings.objective}</Term>}
          value={search.objective ?? FIRST.objective}
          data={labelled(strings.figures, FIGURES)}
          onChange={(objective) => onSearch({ objective })}
        />
        <NumberField
          key={`limit ${search.limit}`}
          label={strings.limit}
          placeholder={strings.anyRise}
          defaultValue={(search.limit ?? FIRST.limit) < 0 ? undefined : (search.limit ?? FIRST.limit)}
          min={0}
          max={1_000}
          step="any"
          w={190}
          onBlur={({ currentTarget }) =>
            onSearch({ limit: currentTarget.value === '' ? -1 : Number(currentTarget.value) })
          }
        />
        <MultiSelect
          label={strings.policies}
          data={labelled(strings.names, POLICIES)}
          value={policies}
          onChange={(chosen) => onSearch({ policies: chosen.length > 0 ? chosen.join(',') : undefined })}
          className={advisors.wide}
        />
      </div>
      {workload === 'own' && (
        <>
          <Textarea
            label={strings.ownSizes}
            description={strings.ownSizesHelp}
            value={sizes}
            onChange={({ currentTarget }) => onSizes(currentTarget.value)}
            rows={6}
            error={missing.at('sizes')}
            spellCheck={false}
          />
          <FileButton
            accept=".csv,.txt,text/csv"
            onChange={(file) => {
              if (file) void file.text().then(onSizes)
            }}
          >
            {(props) => (
              <Button {...props} variant="default" mt="xs">
                {strings.openFile}
              </Button>
            )}
          </FileButton>
        </>
      )}
      <details className={advisors.advanced}>
        <summary>{strings.advanced}</summary>
        <div className={pageStyles.form}>
          <Choice
            label={strings.against}
            value={search.against ?? ''}
            none={strings.byKnowledge}
            data={labelled(strings.names, BASELINES)}
            onChange={(value) => onSearch({ against: (value || undefined) as TailSearch['against'] })}
          />
          <Choice<string>
            label={<Term of="priority class">{strings.classes}</Term>}
            value={String(search.classes ?? '')}
            none={strings.noClasses}
            data={['2', '4', '8']}
            onChange={(value) => onSearch({ classes: value ? Number(value) : undefined })}
          />
          {search.classes !== undefined && (
            <Choice
              label={strings.spread}
              value={search.spread ?? FIRST.spread}
              data={labelled(strings.spreads, SPREADS)}
              onChange={(spread) => onSearch({ spread })}
            />
          )}
          {optional('alpha', strings.alpha, strings.bySearch, 0, 1e15)}
          {number('evaluations', strings.evaluations, 5, 96, 1)}
          {number('packet', strings.packetBytes, 64, 65_535, 1)}
          {optional('flows', strings.flows, strings.automatic, 1_000, 1_000_000)}
          {number('seed', strings.seed, 0, 2 ** 31 - 1, 1)}
        </div>
      </details>
      <Button type="submit" loading={starting} onClick={missing.onAttempt} mt="sm">
        {strings.run}
      </Button>
    </form>
  )
}
