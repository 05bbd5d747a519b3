import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data } from "@/api/client";
import { t } from "@/i18n/en/directives";
import { Button } from "@/ui/Button";
import { Empty } from "@/ui/Empty";
import { ErrorNote } from "@/ui/ErrorNote";
import { PageHead } from "@/ui/PageHead";
import { Skeleton } from "@/ui/Skeleton";
import { DirectiveList } from "./DirectiveList";
import { Editor } from "./Editor";
import { PromptPanel } from "./PromptPanel";
import { Templates } from "./Templates";
import { Versions } from "./Versions";
import { BLANK, type Directive, type Written, writtenOf } from "./words";

type Shown = { what: "editor"; from: Written } | { what: "versions"; of: Directive } | { what: "templates" } | null;

export function DirectivesPage() {
  const list = useQuery({ queryKey: ["directives"], queryFn: () => data(api.GET("/directives")) });
  const [shown, show] = useState<Shown>(null);
  const rows = list.data?.items;
  const close = () => show(null);
  const write = (from: Written) => show({ what: "editor", from });
  const add = (
    <Button kind="primary" icon="plus" onClick={() => write(BLANK)}>
      {t("add")}
    </Button>
  );
  return (
    <div className="grid max-w-300 gap-10 p-4 md:p-6">
      <div>
        <PageHead
          title={t("directives")}
          description={t("about")}
          actions={
            <>
              <Button icon="book" onClick={() => show({ what: "templates" })}>
                {t("templates")}
              </Button>
              {add}
            </>
          }
        />
        <ErrorNote error={list.error} />
        {!rows && !list.error && <Skeleton lines={8} />}
        {rows?.length === 0 && <Empty title={t("none")}>{t("noneWhy")}</Empty>}
        {rows && rows.length > 0 && (
          <DirectiveList
            rows={rows}
            onEdit={(directive) => write(writtenOf(directive))}
            onVersions={(of) => show({ what: "versions", of })}
          />
        )}
      </div>
      {rows && <PromptPanel rows={rows} />}
      {shown?.what === "editor" && <Editor key={shown.from.id || "new"} from={shown.from} onClose={close} />}
      {shown?.what === "versions" && <Versions of={shown.of} onClose={close} />}
      {shown?.what === "templates" && <Templates onUse={(found) => write({ ...BLANK, ...found })} onClose={close} />}
    </div>
  );
}
