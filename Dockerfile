# The images of Tollgate: `docker build --target proxy .` and `docker build --target operator .`
#
# What they hold is decided by scripts/image/ (the end-to-end suite builds the same trees without an engine): compiled
# code, the production packages that it loads, Node and the libraries that Node is linked with. No shell, no package
# manager; an unprivileged user; nothing is ever written outside mounted folders.

# A Debian or the like with Node 24 and npm; its Node and its C library go into the images.
ARG BASE_IMAGE=node:24-trixie-slim

FROM ${BASE_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json LICENSE ./
COPY scripts scripts
COPY cli cli
COPY operator operator
COPY proxy proxy
COPY examples/demo-upstream examples/demo-upstream
RUN node scripts/tasks/image.ts proxy /images/proxy \
 && node scripts/tasks/image.ts operator /images/operator \
 && node scripts/tasks/image.ts demo-upstream /images/demo-upstream

FROM ${BASE_IMAGE} AS rootfs
RUN mkdir -p /rootfs/usr/local/bin /rootfs/etc /rootfs/app /rootfs/proc /rootfs/sys /rootfs/dev \
 && install -d -m 1777 /rootfs/tmp \
 && install "$(command -v node)" /rootfs/usr/local/bin/node \
 && for library in $(ldd /rootfs/usr/local/bin/node | grep -o '/[^ ]*' | sort -u); do \
      install -D "$library" "/rootfs$library"; \
    done \
 && echo 'nonroot:x:65532:65532::/app:/sbin/nologin' >/rootfs/etc/passwd \
 && echo 'nonroot:x:65532:' >/rootfs/etc/group

FROM scratch AS runtime
COPY --from=rootfs /rootfs /
LABEL org.opencontainers.image.title="Tollgate" org.opencontainers.image.licenses="Apache-2.0"
WORKDIR /app
USER 65532:65532

FROM runtime AS demo-upstream
COPY --from=build /images/demo-upstream /app
EXPOSE 9999
ENTRYPOINT ["/usr/local/bin/node", "/app/examples/demo-upstream/main.js", "--host", "0.0.0.0"]

# The flags of both programs are those of cli/*-node-flags.ts (a test compares).
FROM runtime AS operator
COPY --from=build /images/operator /app
EXPOSE 8443 9091
ENTRYPOINT ["/usr/local/bin/node", "--disallow-code-generation-from-strings", "--max-semi-space-size=4", "--disable-sigusr1", "--disable-warning=ExperimentalWarning", "/app/cli/main.js", "operator"]

FROM runtime AS proxy
COPY --from=build /images/proxy /app
EXPOSE 8080 9090
ENTRYPOINT ["/usr/local/bin/node", "--disallow-code-generation-from-strings", "--external-memory-accounted-in-global-limit", "--max-semi-space-size=32", "--disable-sigusr1", "--disable-warning=ExperimentalWarning", "/app/cli/main.js", "proxy"]
