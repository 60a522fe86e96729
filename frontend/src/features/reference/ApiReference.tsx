import { Anchor, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useDeferredValue, useMemo, useState } from 'react'
import { WordLink } from '~/ui/links'
import { Page } from '~/ui/Page'
import { Failed, Loading, Notice } from '~/ui/State'
import { type ApiContract, contractQuery, matching, operationsByTag } from './contract'
import { OperationDetail } from './OperationDetail'
import styles from './reference.module.css'
import { strings } from './strings'

/** The reference of the API, from its own contract: a list of operations, and one of them with a form to try it. */
export function ApiReference({ name }: { name: string | undefined }) {
  const contract = useQuery(contractQuery)
  return (
    <Page
      title={strings.apiReference}
      lead={
        <>
          {strings.lead}{' '}
          <WordLink to="/help/$" params={{ _splat: 'api/README' }}>
            {strings.conventions}
          </WordLink>
          {' · '}
          <Anchor inherit underline="always" href="/v1/openapi.json" download="sinemora-openapi.json">
            {strings.document}
          </Anchor>
        </>
      }
    >
      {contract.error ? (
        <Failed what={strings.titleLower} error={contract.error} retry={() => void contract.refetch()} />
      ) : contract.data ? (
        <Reference contract={contract.data} name={name} />
      ) : (
        <Loading what={strings.titleLower} />
      )}
    </Page>
  )
}

function Reference({ contract, name }: { contract: ApiContract; name: string | undefined }) {
  const [text, setText] = useState('')
  const words = useDeferredValue(text)
  const groups = useMemo(() => operationsByTag(contract), [contract])
  const shown = useMemo(() => matching(groups, words), [groups, words])
  const all = useMemo(() => groups.flatMap(([, operations]) => operations), [groups])
  const chosen = all.find(({ operationId }) => operationId === (name ?? 'list_meshes'))
  return (
    <div className={styles.layout}>
      <nav className={styles.list} aria-label={strings.operations}>
        <TextInput
          type="search"
          aria-label={strings.filter}
          placeholder={strings.filterExample}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <div className={styles.groups}>
          {shown.length === 0 && <p role="status">{strings.none}</p>}
          {shown.map(([tag, operations]) => (
            <section key={tag}>
              <h2>{tag}</h2>
              <ul>
                {operations.map(({ operationId, method, summary }) => (
                  <li key={operationId}>
                    <Link
                      to="/help/reference"
                      search={{ operation: operationId }}
                      resetScroll={false}
                      aria-current={operationId === chosen?.operationId ? 'page' : undefined}
                    >
                      <span className={styles.method}>{method}</span>
                      {summary}
                    </Link>
                  </li>
                ))}
              </ul>
            </section>
          ))}
        </div>
      </nav>
      {chosen ? (
        <OperationDetail key={chosen.operationId} contract={contract} operation={chosen} />
      ) : (
        <Notice tone="warn">{strings.unknown(name ?? '')}</Notice>
      )}
    </div>
  )
}
