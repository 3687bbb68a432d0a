package main

import (
	"fmt"
	"slices"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// check finds what would be applied and then not work.
func (m *manifests) check() (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	for _, s := range m.services {
		w := m.selected(s.Spec.Selector)
		if w == nil {
			fault("%s: the service selects no pod", s.Name)
			continue
		}
		for _, p := range s.Spec.Ports {
			if !hasPort(w.pod.Spec, p.TargetPort) {
				fault("%s: the pod has no port %s", s.Name, p.TargetPort.String())
			}
		}
	}
	for _, b := range m.budgets {
		w := m.selected(b.Spec.Selector.MatchLabels)
		switch {
		case w == nil:
			fault("%s: the disruption budget selects no pod", b.Name)
		case b.Spec.MinAvailable != nil && b.Spec.MinAvailable.IntVal >= w.replicas:
			fault("%s: no node could ever be drained", b.Name)
		}
	}
	m.checkPolicies(fault)
	m.checkIngresses(fault)
	for _, w := range m.workloads {
		if !selects(w.selector, w.pod.Labels) {
			fault("%s: the selector does not match the pod's labels", w.name)
		}
		for _, spread := range w.pod.Spec.TopologySpreadConstraints {
			if !selects(spread.LabelSelector.MatchLabels, w.pod.Labels) {
				fault("%s: other pods are spread", w.name)
			}
		}
		if set, ok := m.named["StatefulSet/"+w.name].(*apps.StatefulSet); ok && m.named["Service/"+set.Spec.ServiceName] == nil {
			fault("%s: no Service %s", w.name, set.Spec.ServiceName)
		}
		m.checkVolumes(w, fault)
		for _, c := range w.pod.Spec.Containers {
			m.checkSecrets(w.name, c, fault)
			checkContainer(w, c, fault)
		}
	}
	return faults
}

func (m *manifests) checkPolicies(fault func(string, ...any)) {
	for _, p := range m.policies {
		w := m.selected(p.Spec.PodSelector.MatchLabels)
		if w == nil {
			fault("%s: the network policy selects no pod", p.Name)
			continue
		}
		for _, in := range p.Spec.Ingress {
			for _, port := range in.Ports {
				if !hasPort(w.pod.Spec, *port.Port) {
					fault("%s: the pod has no port %s", p.Name, port.Port.String())
				}
			}
		}
	}
}

func (m *manifests) checkIngresses(fault func(string, ...any)) {
	for _, i := range m.ingresses {
		for _, rule := range i.Spec.Rules {
			for _, path := range rule.HTTP.Paths {
				to := path.Backend.Service
				service, _ := m.named["Service/"+to.Name].(*core.Service)
				if service == nil || !slices.ContainsFunc(service.Spec.Ports, func(p core.ServicePort) bool { return p.Name == to.Port.Name }) {
					fault("%s: no Service %s with a port %s", i.Name, to.Name, to.Port.Name)
				}
			}
		}
	}
}

// checkVolumes wants every volume to be there and to come from something that is.
func (m *manifests) checkVolumes(w workload, fault func(string, ...any)) {
	volumes := map[string]bool{}
	for _, c := range w.claims {
		volumes[c.Name] = true
	}
	for _, v := range w.pod.Spec.Volumes {
		volumes[v.Name] = true
		if v.ConfigMap != nil && m.named["ConfigMap/"+v.ConfigMap.Name] == nil {
			fault("%s: no ConfigMap %s", w.name, v.ConfigMap.Name)
		}
		if c := v.PersistentVolumeClaim; c != nil && m.named["PersistentVolumeClaim/"+c.ClaimName] == nil {
			fault("%s: no PersistentVolumeClaim %s", w.name, c.ClaimName)
		}
	}
	for _, c := range w.pod.Spec.Containers {
		for _, mount := range c.VolumeMounts {
			if !volumes[mount.Name] {
				fault("%s: no volume %s", w.name, mount.Name)
			}
		}
	}
}

// checkSecrets wants what comes from secrets to be in them.
func (m *manifests) checkSecrets(name string, c core.Container, fault func(string, ...any)) {
	for _, from := range c.EnvFrom {
		if from.SecretRef != nil && m.named["Secret/"+from.SecretRef.Name] == nil {
			fault("%s: no Secret %s", name, from.SecretRef.Name)
		}
	}
	for _, env := range c.Env {
		if env.ValueFrom == nil || env.ValueFrom.SecretKeyRef == nil {
			continue
		}
		ref := env.ValueFrom.SecretKeyRef
		if secret, ok := m.named["Secret/"+ref.Name].(*core.Secret); !ok || secret.Data[ref.Key] == nil {
			fault("%s: no Secret %s with %s", name, ref.Name, ref.Key)
		}
	}
}

// checkContainer wants probes that can succeed, a limit, and no more rights than are needed.
func checkContainer(w workload, c core.Container, fault func(string, ...any)) {
	for _, probe := range []*core.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
		works := probe != nil && (probe.Exec != nil ||
			probe.HTTPGet != nil && hasPort(w.pod.Spec, probe.HTTPGet.Port) ||
			probe.TCPSocket != nil && hasPort(w.pod.Spec, probe.TCPSocket.Port))
		if !works {
			fault("%s: a probe that is missing, or asks a port that is not there", w.name)
		}
	}
	if c.Resources.Limits.Memory().IsZero() {
		fault("%s: its memory has no limit", w.name)
	}
	pod, own := w.pod.Spec.SecurityContext, c.SecurityContext
	if pod == nil || own == nil || pod.RunAsNonRoot == nil || !*pod.RunAsNonRoot || own.AllowPrivilegeEscalation == nil || *own.AllowPrivilegeEscalation ||
		own.ReadOnlyRootFilesystem == nil || !*own.ReadOnlyRootFilesystem || own.Capabilities == nil || !slices.Equal(own.Capabilities.Drop, []core.Capability{"ALL"}) {
		fault("%s: it may do more than it has to", w.name)
	}
}

// selected is the workload whose pods are selected; nil where there is none.
func (m *manifests) selected(by map[string]string) *workload {
	for i, w := range m.workloads {
		if selects(by, w.pod.Labels) {
			return &m.workloads[i]
		}
	}
	return nil
}

func selects(selector, labels map[string]string) bool {
	for name, value := range selector {
		if labels[name] != value {
			return false
		}
	}
	return len(selector) > 0
}

func hasPort(pod core.PodSpec, wanted intstr.IntOrString) bool {
	for _, c := range pod.Containers {
		if slices.ContainsFunc(c.Ports, func(p core.ContainerPort) bool { return p.Name == wanted.StrVal }) {
			return true
		}
	}
	return false
}
