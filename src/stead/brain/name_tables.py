"""Names that sentences cannot be understood without: programs, and cities.

Layer: brain. Pure. Words with blanks between them, in small letters.
"""

from __future__ import annotations

PRODUCTS = (
    "agile airflow airtable alacritty alexa alpine amazon android angular ansible anthropic apache apple arch argocd "
    "asana astro atom aurora aws azure babel basecamp bash bazel bitbucket bootstrap brave buildkite bun caffeine "
    "calendly canva cargo cassandra celery chatgpt chrome chromium ci circleci clang claude clickhouse clojure "
    "cloudflare cmake codepen coffee cohere confluence consul copilot cursor cypress dart datadog dbt debian deno "
    "discord django docker dropbox duckdb eclipse edge elastic elasticsearch elixir emacs epic erlang eslint excel "
    "express facebook false fargate fastapi fastly fedora figma firebase firefox flask flutter flux fortran gatsby "
    "gcc gentoo ghostty git gitea github gitlab gmail gnome go golang google gradle grafana graphql grunt gulp "
    "gunicorn hadoop haskell helix helm heroku hetzner homebrew hugo instagram intellij ios iterm jaeger java "
    "javascript jenkins jest jetbrains jira jquery julia jupyter kafka kanban kde keycloak kibana kotlin kubernetes "
    "lambda laravel latex leetcode less linear linkedin linode linux lisp llama logstash lua macos mailchimp main "
    "mariadb master mastodon maven memcached mercurial meson meta microsoft minio mint miro mocha mongo mongodb "
    "monorepo music mypy mysql nan nano nats neo4j neovim netflix netlify next nextjs nginx nil nix nixos node nodejs "
    "nomad none notion npm null numpy nuxt nvim ocaml ollama onedrive openai openshift opera oracle outlook pandas "
    "patience perforce perl php pip pnpm poetry postgres postgresql postman powerpoint powershell prettier prisma "
    "prod production prometheus protobuf pulsar pulumi puppet pycharm pytest python pytorch qa qt quarkus rabbitmq "
    "rails react reddit redis redshift redux remix renovate rollup ruby rubymine ruff rust safari salesforce sass "
    "scala scrum selenium sentry shopify signal silence skype slack sleep snowflake solid solr spark splunk spotify "
    "spring sql sqlite stackoverflow staging storybook stripe sublime subversion svelte svn swift symfony tableau "
    "tailwind teams telegram temporal tensorflow terraform tiktok tmux todo travis trello true trunk twilio twitter "
    "typescript ubuntu undefined unity uv vagrant valkey vault vercel vim visual vite vitest vscode vue wayland "
    "webpack wezterm whatsapp windows word wordpress xcode yarn youtrack youtube zed zig zoom zsh zulip "
)
"""Programs, services, and other things that people talk of by name as if they were somebody."""
TOOLS = (
    "alembic ansible ant arch ava bash bazel biome black brave buck bun caddy capistrano cargo chrome clippy cmake "
    "compose cron ctest cypress debian deno docker ed emacs esbuild eslint fabric fedora firefox fish flake8 flyway "
    "git go gofmt gradle grunt gtest gulp hatch helix helm hg isort jest just kakoune knex kubectl less linux "
    "liquibase macos make maven meson micro minitest mocha mvn mypy nano neovim nginx ninja nixos node nomad nox npm "
    "nvim phpunit pip playwright pnpm podman poetry prettier prisma pylint pytest rake rollup rspec rsync ruff "
    "rustfmt safari sbt scp screen ssh svn systemd terraform tmux tox ubuntu unittest uv vim vite vitest webpack "
    "windows yarn zsh "
)
"""Programs that people write in small letters."""
CITIES = (
    "aachen aarhus aberdeen accra adelaide amman amsterdam ankara antwerp athens atlanta auckland austin baku "
    "baltimore bangalore bangkok barcelona basel beijing beirut belfast belgrade bengaluru bergen berlin bern bilbao "
    "birmingham bogota bologna bonn bordeaux boston bratislava bremen brighton brisbane bristol brno brooklyn bruges "
    "brussels bucharest budapest cairo calgary cambridge canberra cardiff casablanca charlotte chennai chicago "
    "cologne copenhagen cork dakar dallas delft delhi denver detroit dortmund dresden dubai dublin edinburgh "
    "eindhoven faro florence frankfurt galway gdansk geneva genoa ghent glasgow gothenburg granada graz groningen "
    "haarlem haifa hamburg hanoi hanover havana helsinki houston hyderabad innsbruck istanbul jakarta jerusalem "
    "johannesburg kampala karachi karlsruhe kiel kigali kolkata krakow kyiv kyoto lagos lahore lausanne leeds "
    "leicester leiden leipzig lille lima limerick linz lisbon liverpool ljubljana london lucerne luxembourg lviv lyon "
    "madrid mainz malaga malmo malmö manchester manila mannheim marseille melbourne memphis miami milan minneapolis "
    "minsk montevideo montpellier montreal moscow mumbai munich nairobi nantes naples nashville newcastle nice "
    "nicosia nottingham nuremberg odense orlando osaka oslo ottawa oxford palermo paris perth philadelphia phoenix "
    "pittsburgh portland porto potsdam prague pune quebec quito reykjavik riga rome rotterdam salzburg santiago "
    "sarajevo seattle seoul seville shanghai sheffield shenzhen singapore skopje sofia southampton stavanger "
    "stockholm strasbourg stuttgart sydney taipei tallinn tampa tampere tartu tbilisi tehran tirana tokyo toronto "
    "toulouse trieste trondheim tunis turin turku uppsala utrecht valencia valletta vancouver venice verona vienna "
    "vilnius warsaw washington wellington winnipeg wroclaw wuppertal yerevan york zagreb zurich zürich "
)
"""Where many people live."""
