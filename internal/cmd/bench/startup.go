//go:build unix

package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/emptypb"
)

// startUps starts providers in turn, several rounds. It returns for each the median time from the start of the process
// until it has returned its schema.
func startUps(ctx context.Context, folder string, rounds int, providers ...string) ([]time.Duration, error) {
	all := make([][]time.Duration, len(providers))
	for range rounds {
		for i, provider := range providers {
			elapsed, err := startUp(ctx, folder, provider)
			if err != nil {
				return nil, fmt.Errorf("start %s: %w", provider, err)
			}
			all[i] = append(all[i], elapsed)
		}
	}
	medians := make([]time.Duration, len(providers))
	for i, each := range all {
		medians[i] = median(each)
	}
	return medians, nil
}

func median(values []time.Duration) time.Duration {
	slices.Sort(values)
	return values[len(values)/2]
}

// startUp starts a provider as Terraform does: it reads the address from the provider's first line and requests the
// schema.
func startUp(ctx context.Context, folder, provider string) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel() // ends the provider
	command := exec.CommandContext(ctx, provider)
	// The cookie is the same for all providers; without it they do not serve.
	command.Env = append(os.Environ(), "TMPDIR="+folder, "PLUGIN_PROTOCOL_VERSIONS=6",
		"TF_PLUGIN_MAGIC_COOKIE=d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2")
	printed, err := command.StdoutPipe()
	if err != nil {
		return 0, err
	}
	started := time.Now()
	if err := command.Start(); err != nil {
		return 0, err
	}
	defer func() { _ = command.Wait() }()
	defer cancel()
	line, err := bufio.NewReader(printed).ReadString('\n')
	if err != nil {
		return 0, err
	}
	// For example 1|6|unix|/tmp/plugin123|grpc|
	parts := strings.Split(strings.TrimSpace(line), "|")
	if len(parts) < 5 {
		return 0, fmt.Errorf("its first line is %q", line)
	}
	target := parts[3]
	if parts[2] == "unix" {
		target = "unix:" + target
	}
	connection, err := grpc.NewClient(target, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return 0, err
	}
	defer func() { _ = connection.Close() }()
	// Into an empty message: the schema is received and not decoded.
	err = connection.Invoke(ctx, "/tfplugin6.Provider/GetProviderSchema", &emptypb.Empty{}, &emptypb.Empty{},
		grpc.MaxCallRecvMsgSize(256<<20))
	return time.Since(started), err
}
